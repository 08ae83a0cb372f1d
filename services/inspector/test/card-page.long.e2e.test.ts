import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { MARKUP } from './record-branches.ts';
import { COMMIT, insert, recorderOf } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  await client.start({ body: { id: 'start-card', recorder: 'test', name: 'card' } });
  await record(
    'card',
    insert('rules', 'system', 'You book flights.'),
    insert('hint', 'system', 'Offer a refund first.'),
    insert('ask', 'user', 'To Oslo.'),
    COMMIT,
  );
  const book = {
    id: 'c1',
    function: {
      name: 'book_flight',
      arguments: JSON.stringify({
        to: 'OSL',
        seats: [
          { row: 4, seat: 'A' },
          { row: 5, seat: 'B' },
        ],
        note: MARKUP,
      }),
    },
  };
  await record(
    'card',
    insert('booking', 'assistant', book, { kind: 'call' }),
    insert('refused', 'tool', `Error: no seat is left ${MARKUP}`, {
      ...{ kind: 'result', ttl: 1, data_tool_call_id: 'c1' },
    }),
    COMMIT,
  );
  await client.command({
    history: 'card',
    body: {
      ...{ id: 'shorter', actor: 'ann', notes: 'it misled the agent' },
      steps: [{ op: 'remove', id: 'hint' }],
    },
  });
  await record(
    'card',
    insert('sorry', 'assistant', 'No seat is left.'),
    insert('pity', 'user', 'A pity.'),
    COMMIT,
  );
  await record('card', insert('bye', 'assistant', 'Goodbye.'), COMMIT);
});

test('the card has what left first, what the model decided, and what came back; a failed tool is told by a word', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=card&at=@c1&show=call',
    width: 1440,
    height: 900,
  });
  const decided = page.getByRole('region', { name: 'Decided, content' });
  await decided.getByText('book_flight').waitFor();
  expect(await decided.getByRole('columnheader').allInnerTexts()).toEqual(['row', 'seat']);
  const back = page.getByRole('region', { name: 'Got back, content' });
  expect(await back.innerText()).toContain('✕ failed');
  expect(await back.innerText()).toContain(MARKUP);
  await decided.getByRole('button', { name: 'raw' }).click();
  expect(await decided.innerText()).toContain('"function"');
  expect(await page.locator('img').count()).toBe(0);
  await screenshot('card');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('a message that left opens in place: who removed it and why, which calls saw it, and the branch where it stays', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=card&at=@c3&show=call',
    colorScheme: 'dark',
    width: 1440,
    height: 900,
  });
  const left = page.getByRole('region', { name: '1 left' });
  await left.getByRole('button', { name: /Offer a refund first/ }).click();
  await left.getByText('it misled the agent').waitFor();
  expect(await left.innerText()).toMatch(/ann removed it before @c3/);
  expect(await left.innerText()).toMatch(/Came in at @c1, seen by 2 calls, last at @c2/);
  expect(paramOf(page, 'node')).toBe('hint');
  await screenshot('card-left');
  expect(await seriousFaults(page)).toEqual([]);
  await page.keyboard.press('ArrowRight');
  await page.getByRole('region', { name: '1 left' }).getByText('no seat is left').waitFor();
  expect(await page.getByRole('region', { name: '1 left' }).innerText()).toMatch(/expired/);
  await page.goBack();
  await page.goto(`${stage.url}/?h=card&at=@c3&show=call&node=hint`);
  await page.getByRole('button', { name: 'What if it had stayed?' }).click();
  await page.getByRole('dialog').waitFor();
  expect([paramOf(page, 'at'), paramOf(page, 'dialog')]).toEqual(['@c2', 'fork']);
  expect(faults).toEqual([]);
});

test('since an older call everything between is counted together, and what left since then and why takes three actions', async () => {
  const { page, faults } = await stage.open({
    address: '?h=card&at=@c4&show=call',
    width: 1440,
    height: 900,
  });
  await page.getByRole('slider', { name: 'Filmstrip' }).focus();
  await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('Shift+ArrowLeft');
  await expect.poll(() => paramOf(page, 'since')).toBe('@c1');
  const left = page.getByRole('region', { name: '1 left' });
  await left.getByRole('button', { name: /Offer a refund first/ }).click();
  await left.getByText('it misled the agent').waitFor();
  expect(faults).toEqual([]);
});

test('who opens the page without an address sees the newest call, and on a phone the same in one column', async () => {
  const { page, faults, screenshot } = await stage.open({ width: 390, height: 844 });
  await page.getByRole('heading', { name: 'Call 4' }).waitFor();
  expect(paramOf(page, 'show')).toBe('call');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await screenshot('card-phone');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});
