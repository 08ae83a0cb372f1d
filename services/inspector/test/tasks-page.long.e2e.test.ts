import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { recordTrial } from './record-branches.ts';
import { COMMIT, insert, recorderOf } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

/** docs/running.md says what they are: a click or a key each, from the page as it opens. */
const MOST_ACTIONS = 6;

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  await recordTrial(client, record);
  await client.start({ body: { id: 'start-task', recorder: 'test', name: 'task' } });
  for (let call = 1; call <= 14; call++) {
    if (call === 10)
      await client.command({
        history: 'task',
        body: {
          ...{ id: 'shorter', actor: 'ann', notes: 'it misled the agent' },
          steps: [{ op: 'remove', id: 'hint' }],
        },
      });
    await record(
      'task',
      insert(`turn-${call}`, call % 2 === 1 ? 'user' : 'assistant', `turn ${call}`),
      ...(call === 1 ? [insert('hint', 'system', 'Offer a refund first.')] : []),
      ...(call === 7 ? [insert('found', 'tool', 'a document that was found', { ttl: 3 })] : []),
      COMMIT,
    );
  }
});

/** Clicks and keys, counted. */
const counted = (page: Page) => {
  let actions = 0;
  return {
    click: async (what: Locator): Promise<void> => {
      actions++;
      await what.click();
    },
    press: async (key: string): Promise<void> => {
      actions++;
      await page.keyboard.press(key);
    },
    shiftClick: async (what: Locator, at: (width: number) => number): Promise<void> => {
      actions++;
      const box = await what.boundingBox();
      await what.click({ modifiers: ['Shift'], position: { x: at(box?.width ?? 0), y: 60 } });
    },
    count: () => actions,
  };
};

/** The middle of the column of a call on the strip, of a history of so many calls. */
const columnOf =
  (call: number, calls: number) =>
  (width: number): number =>
    58 + (call - 0.5) * Math.min(92, (width - 58 - 14) / calls);

test('what the model saw at call 12, and what had left since call 8 and why, is found in six clicks and keys', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=task', width: 1440, height: 900 });
  await page.getByRole('tree', { name: 'Context tree at @c14' }).waitFor();
  const { click, press, shiftClick, count } = counted(page);
  await press('ArrowLeft');
  await press('ArrowLeft');
  const thread = page.getByRole('region', { name: 'Provider thread, content' });
  await page.getByRole('tree', { name: 'Context tree at @c12' }).waitFor();
  expect(await thread.innerText()).toMatch(/turn 12/);
  expect(await thread.innerText()).not.toMatch(/turn 13|refund|document/);
  await shiftClick(page.getByRole('slider', { name: 'Filmstrip' }), columnOf(8, 14));
  await expect.poll(() => paramOf(page, 'since')).toBe('@c8');
  await press('d');
  await page.getByRole('region', { name: 'Summary' }).waitFor();
  await click(page.getByRole('button', { name: 'Nodes and causes' }));
  const view = page.getByRole('main');
  await expect.poll(() => view.innerText()).toMatch(/document that was found/);
  const said = await view.innerText();
  expect(said).toMatch(/found[^]*(?:ttl|expired|ran out)/);
  expect(said).toMatch(/hint[^]*ann[^]*it misled the agent/);
  await screenshot('task-left');
  expect(count()).toBeLessThanOrEqual(MOST_ACTIONS);
  expect(faults).toEqual([]);
});

test('who intervened, what it changed and where the branches part is found in six clicks and keys', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=trial', width: 1440, height: 900 });
  await page.locator('.thread-panel .message').first().waitFor();
  const { click, press, count } = counted(page);
  await press('i');
  const log = page.getByRole('list', { name: 'Interventions, newest first' });
  await log.getByText('the first of two').waitFor();
  await click(log.getByRole('listitem').filter({ hasText: 'the first of two' }).getByRole('button').first());
  const detail = page.getByRole('complementary', { name: 'Selected intervention' });
  await expect.poll(() => detail.innerText()).toMatch(/Think of the pool size first\./);
  expect(await detail.innerText()).toMatch(/ann/);
  await press('g');
  const drawing = page.getByRole('region', { name: 'Drawing of the branches' });
  await drawing.getByText(/fork at @c5/).waitFor();
  expect(await drawing.innerText()).toMatch(/with-hint/);
  await screenshot('task-branches');
  expect(count()).toBeLessThanOrEqual(MOST_ACTIONS);
  expect(faults).toEqual([]);
});
