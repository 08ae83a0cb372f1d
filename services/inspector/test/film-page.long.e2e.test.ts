import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { MARKUP, recordTrial } from './record-branches.ts';
import { COMMIT, insert, recorderOf, recordShort } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

const LONG_CALLS = 400;

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  await recordTrial(client, record);
  await recordShort(client, record);
  await client.start({ body: { id: 'start-film', recorder: 'test', name: 'film' } });
  await record(
    'film',
    insert('rules', 'system', 'You book flights.'),
    insert('ask', 'user', 'To Oslo.'),
    COMMIT,
  );
  const book = { id: 'c1', function: { name: 'book_flight', arguments: '{"to":"OSL"}' } };
  await record(
    'film',
    insert('booking', 'assistant', book, { kind: 'call' }),
    insert('refused', 'tool', 'Error: no seat is left', { kind: 'result', data_tool_call_id: 'c1' }),
    COMMIT,
  );
  const odd = { id: 'c2', function: { name: `${MARKUP}\u202E`, arguments: '{}' } };
  await record('film', insert('odd', 'assistant', odd, { kind: 'call' }), COMMIT);
  await record('film', insert('sorry', 'assistant', 'No seat is left.'));
  await client.start({ body: { id: 'start-leaves', recorder: 'test', name: 'leaves' } });
  await record('leaves', insert('a', 'tool', 'One.', { kind: 'result', ttl: 1 }), COMMIT);
  await record('leaves', insert('b', 'user', 'Two.'), COMMIT);
  await record('leaves', insert('c', 'user', 'Three.'), COMMIT);
  await record('leaves', insert('d', 'user', 'Four.'), COMMIT);
  await client.start({ body: { id: 'start-long-film', recorder: 'test', name: 'long-film' } });
  for (let n = 1; n <= LONG_CALLS; n++)
    await record('long-film', insert(`q${n}`, n % 2 === 1 ? 'user' : 'assistant', `turn ${n}`), COMMIT);
});

const strip = (page: Page) => page.getByRole('slider', { name: 'Filmstrip' });
const spoken = (page: Page): Promise<string | null> => strip(page).getAttribute('aria-valuetext');

test('the strip is above every view, is one stop of Tab, and keys go through the calls, to the ends and to an older call; the address has all of it', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=film&at=@c2',
    width: 1440,
    height: 900,
  });
  await strip(page).waitFor();
  expect(await spoken(page)).toMatch(/^call 2: \d+ tokens, 2 new, 0 left, decided <img/);
  await page.keyboard.press('Home');
  await strip(page).focus();
  await page.keyboard.press('Home');
  await expect.poll(() => paramOf(page, 'at')).toBe('@c1');
  expect(await spoken(page)).toBe('call 1: 7 tokens, 2 new, 0 left, decided book_flight, failed');
  await page.keyboard.press('End');
  await expect.poll(() => paramOf(page, 'at')).toBe('@c3');
  expect(await spoken(page)).toMatch(/decided answer$/);
  await page.keyboard.press('Shift+ArrowLeft');
  await expect.poll(() => paramOf(page, 'since')).toBe('@c1');
  expect(await page.locator('.film-since').count()).toBe(1);
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => paramOf(page, 'at')).toBe('@c2');
  await page.reload();
  await strip(page).waitFor();
  expect(await strip(page).getAttribute('aria-valuenow')).toBe('2');
  expect(await page.locator('.film-since').count()).toBe(1);
  for (const show of ['time', 'compare', 'branches', 'calls', 'events', 'system']) {
    await page.goto(`${stage.url}/?h=film&show=${show}`);
    await strip(page).waitFor();
  }
  await page.goto(`${stage.url}/?h=film&at=@c1`);
  await strip(page).waitFor();
  await screenshot('film');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('keys and buttons go to the next call from which something left, and to the next one that failed', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=leaves&at=@c1' });
  await strip(page).waitFor();
  const failed = page.getByRole('button', { name: '✕ failed' });
  expect(await failed.isDisabled()).toBe(true);
  await page.keyboard.press('!');
  await page.keyboard.press('-');
  await expect.poll(() => paramOf(page, 'at')).toBe('@c3');
  // No other one has lost something.
  expect(await page.getByRole('button', { name: '− left' }).isDisabled()).toBe(true);
  await page.goto(`${stage.url}/?h=film&at=@c3`);
  await failed.click();
  await expect.poll(() => paramOf(page, 'at')).toBe('@c1');
  await page.setViewportSize({ width: 390, height: 800 });
  await screenshot('film-next-phone');
  expect(await failed.isVisible()).toBe(true);
  expect(faults).toEqual([]);
});

test('a click shows a call, a drag scrubs, a click with shift compares, and a click on a track shows its branch', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=trial', width: 1440, height: 900 });
  await strip(page).waitFor();
  const box = await strip(page).boundingBox();
  if (box === null) throw new Error('the strip has no box');
  const axis = 58;
  const column = Math.min(92, (box.width - axis - 14) / 8);
  const x = (cycle: number): number => box.x + axis + (cycle - 0.5) * column;
  await page.mouse.click(x(3), box.y + 60);
  await expect.poll(() => paramOf(page, 'at')).toBe('@c3');
  await page.mouse.move(x(3), box.y + 60);
  await page.mouse.down();
  await page.mouse.move(x(6), box.y + 60, { steps: 6 });
  await page.mouse.up();
  await expect.poll(() => paramOf(page, 'at')).toBe('@c6');
  await page.keyboard.down('Shift');
  await page.mouse.click(x(4), box.y + 60);
  await page.keyboard.up('Shift');
  await expect.poll(() => paramOf(page, 'since')).toBe('@c4');
  await screenshot('film-branches');
  await strip(page).focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => paramOf(page, 'h')).toMatch(/:\d+$/);
  expect(await page.getByLabel('branch').inputValue()).toBe(paramOf(page, 'h'));
  await page.keyboard.press('ArrowUp');
  await expect.poll(() => paramOf(page, 'h')).not.toMatch(/:\d+$/);
  expect(faults).toEqual([]);
});

test('calls are played one after the other until somebody stops them', async () => {
  const { page, faults } = await stage.open({ address: '?h=support&at=@c1' });
  await strip(page).focus();
  await page.keyboard.press('Space');
  await expect.poll(() => paramOf(page, 'at'), { timeout: 20_000 }).toBe('@c4');
  await expect.poll(() => page.getByRole('button', { name: /Play/ }).count()).toBe(1);
  expect(faults).toEqual([]);
});

test('a call that is recorded while the page is open comes into the strip', async () => {
  const { page, faults } = await stage.open({ address: '?h=support' });
  await strip(page).waitFor();
  expect(await strip(page).getAttribute('aria-valuemax')).toBe('4');
  await recorderOf(stage.client)('support', insert('last', 'assistant', 'Done.'));
  await stage.client.command({
    history: 'support',
    body: { id: 'film-commit', recorder: 'test', steps: [COMMIT] },
  });
  await expect.poll(() => strip(page).getAttribute('aria-valuemax')).toBe('5');
  expect(faults).toEqual([]);
});

test('of a long history a window is in view, all calls are below it, and the strip is drawn at least 30 times a second while it scrolls', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=long-film&at=@c200',
    colorScheme: 'dark',
    width: 1440,
    height: 900,
  });
  await strip(page).waitFor();
  await page.locator('.film-overview').waitFor();
  await screenshot('film-long');
  const before = await page.locator('.film-window').getAttribute('style');
  const box = await page.locator('.film-overview').boundingBox();
  if (box === null) throw new Error('the overview has no box');
  await page.mouse.click(box.x + 5, box.y + 10);
  await expect.poll(() => page.locator('.film-window').getAttribute('style')).not.toBe(before);
  // The choice stays where it was: only what is in view moved.
  expect(paramOf(page, 'at')).toBe('@c200');
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  expect(faults).toEqual([]);
});

test('on a phone the strip is above the view, small, and nothing is wider than the screen', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=trial&at=@c5',
    width: 390,
    height: 844,
  });
  await strip(page).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await screenshot('film-phone');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});
