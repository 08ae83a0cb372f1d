import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { recordTrial } from './record-branches.ts';
import { COMMIT, insert, recorderOf } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

// docs/running.md lists the six tasks; two of them are in runs-page.long.e2e.test.ts.
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
    clickAt: async (
      what: Locator,
      at: (width: number) => number,
      modifiers: 'Shift'[] = [],
    ): Promise<void> => {
      actions++;
      const box = await what.boundingBox();
      await what.click({ modifiers, position: { x: at(box?.width ?? 0), y: 60 } });
    },
    /** A choice of a list counts as one, as it is opened and chosen with one press. */
    pick: async (what: Locator, label: string): Promise<void> => {
      actions++;
      await what.selectOption({ label });
    },
    count: () => actions,
  };
};

/** The middle of the column of a call on the strip, of a history of so many calls. */
const columnOf =
  (call: number, calls: number) =>
  (width: number): number =>
    58 + (call - 0.5) * Math.min(92, (width - 58 - 14) / calls);

test('what the model saw at call 12 is a click away', async () => {
  const { page, faults } = await stage.open({ address: '?h=task', width: 1440, height: 900 });
  await page.getByRole('tree', { name: 'Context tree at @c14' }).waitFor();
  const { clickAt, count } = counted(page);
  await clickAt(page.getByRole('slider', { name: 'Filmstrip' }), columnOf(12, 14));
  const thread = page.getByRole('region', { name: 'Provider thread, content' });
  await page.getByRole('tree', { name: 'Context tree at @c12' }).waitFor();
  expect(await thread.innerText()).toMatch(/turn 12/);
  expect(await thread.innerText()).not.toMatch(/turn 13|refund|document/);
  expect(count()).toBeLessThanOrEqual(2);
  expect(faults).toEqual([]);
});

test('what left since call 8 and why is two clicks and keys away', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=task&at=@c12',
    width: 1440,
    height: 900,
  });
  await page.getByRole('tree', { name: 'Context tree at @c12' }).waitFor();
  const { press, clickAt, count } = counted(page);
  await clickAt(page.getByRole('slider', { name: 'Filmstrip' }), columnOf(8, 14), ['Shift']);
  await expect.poll(() => paramOf(page, 'since')).toBe('@c8');
  await press('u');
  const shown = page.getByRole('region', { name: 'Shown', exact: true });
  await expect.poll(() => shown.innerText()).toMatch(/document that was found[^]*expired/);
  expect(await shown.innerText()).toMatch(/Offer a refund first[^]*removed/);
  await screenshot('task-left');
  expect(count()).toBeLessThanOrEqual(3);
  expect(faults).toEqual([]);
});

test('where two branches part and how they differ is two clicks and keys away', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=trial', width: 1440, height: 900 });
  await page.locator('.thread-panel .message').first().waitFor();
  const { press, pick, count } = counted(page);
  await press('d');
  await pick(page.getByRole('combobox', { name: 'B', exact: true }), 'with-hint');
  const summary = page.getByRole('region', { name: 'Summary' });
  await expect.poll(() => summary.innerText()).toMatch(/Both have everything up to\s+@c5/);
  await screenshot('task-branches');
  expect(count()).toBeLessThanOrEqual(3);
  expect(faults).toEqual([]);
});

test('who intervened and what it changed is a key and a click away', async () => {
  const { page, faults } = await stage.open({ address: '?h=trial', width: 1440, height: 900 });
  await page.locator('.thread-panel .message').first().waitFor();
  const { click, press, count } = counted(page);
  await press('i');
  const log = page.getByRole('list', { name: 'Interventions, newest first' });
  await log.getByText('the first of two').waitFor();
  await click(log.getByRole('listitem').filter({ hasText: 'the first of two' }).getByRole('button').first());
  const detail = page.getByRole('complementary', { name: 'Selected intervention' });
  await expect.poll(() => detail.innerText()).toMatch(/Think of the pool size first\./);
  expect(await detail.innerText()).toMatch(/ann/);
  expect(count()).toBeLessThanOrEqual(2);
  expect(faults).toEqual([]);
});
