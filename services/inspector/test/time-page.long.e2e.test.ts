import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { COMMIT, insert, recorderOf, recordShort } from './record-histories.ts';
import { HOSTILE, MARKUP, recordTrial } from './record-branches.ts';
import { paramOf, useStage } from './stage.ts';

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  await recordTrial(client, record);
  await recordShort(client, record);
});

const SLIDER = { name: 'Call' } as const;
const shownCall = (page: Page): Promise<string | null> =>
  page.getByRole('slider', SLIDER).getAttribute('aria-valuenow');

test('the scrubber goes through the calls by keys and by dragging, shows what entered and what was removed and why, and its address restores it', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=support&show=time' });
  const slider = page.getByRole('slider', SLIDER);
  await slider.waitFor();
  expect(await shownCall(page)).toBe('4');
  await slider.focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => paramOf(page, 'at')).toBe('@c3');
  await page.getByText('Since @c2').waitFor();
  const changes = page.getByRole('region', { name: 'Changes, content' });
  expect(await changes.innerText()).toContain('It arrives on Friday.');
  // The document that lived for one more snapshot.
  await page.keyboard.press('End');
  await expect.poll(() => changes.innerText()).toContain('expired');
  expect(await changes.innerText()).toContain('on its way');
  await page.keyboard.press('Home');
  await expect.poll(() => paramOf(page, 'at')).toBe('@c1');
  const box = await slider.boundingBox();
  if (box === null) throw new Error('the chart has no box');
  await page.mouse.move(box.x + 5, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => paramOf(page, 'at')).toBe('@c3');
  await screenshot('time');
  await page.reload();
  await slider.waitFor();
  expect(await shownCall(page)).toBe('3');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('two chosen points are compared with two keys, and the back button returns to the scrubber', async () => {
  const { page, faults } = await stage.open({ address: '?h=support&at=@c4&show=time' });
  const slider = page.getByRole('slider', SLIDER);
  await slider.focus();
  await page.keyboard.press('m');
  await expect.poll(() => paramOf(page, 'other')).toBe('@c4');
  await page.keyboard.press('Home');
  await expect.poll(() => paramOf(page, 'at')).toBe('@c1');
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'show')).toBe('compare');
  expect([paramOf(page, 'a'), paramOf(page, 'b')]).toEqual(['@c1', '@c4']);
  await page.goBack();
  await slider.waitFor();
  expect(await shownCall(page)).toBe('1');
  expect(faults).toEqual([]);
});

test('the table beside the chart has every call, and what happened at each: interventions, saved positions, branches', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=trial:with-hint&show=time&at=@c5',
    colorScheme: 'dark',
    width: 390,
    height: 844,
  });
  const table = page.getByRole('listbox', { name: 'Calls, oldest first' });
  await table.getByRole('option').first().waitFor();
  expect(await table.getByRole('option').count()).toBe(8);
  await expect.poll(() => table.getByRole('option', { selected: true }).innerText()).toContain('saved');
  const here = page.getByRole('list', { name: 'What happened here' });
  expect(await here.innerText()).toContain('saved as before-doubt');
  await table.getByRole('option').nth(5).click();
  await expect.poll(() => here.innerText()).toContain('message_inject by ann');
  await here.getByRole('button', { name: 'message_inject by ann' }).click();
  await expect.poll(() => paramOf(page, 'intervention')).toBe('hint');
  await page.goBack();
  await screenshot('time-narrow-dark');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('playing goes on by itself to the newest call, and hostile names are text', async () => {
  const { page, faults } = await stage.open({ address: '?h=trial&show=time&at=@c6' });
  const play = page.locator('.time-bar').getByRole('button', { name: 'Play' });
  await play.click();
  await expect.poll(() => paramOf(page, 'at'), { timeout: 20_000 }).toBe('@c7');
  await play.waitFor();
  await page.getByRole('list', { name: 'What happened here' }).waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect([HOSTILE.startsWith(MARKUP), faults]).toEqual([true, []]);
});

test('a call that is recorded while somebody scrubs appears, and an empty branch says how to record one', async () => {
  const { page, faults } = await stage.open({ address: '?h=alone&show=time' });
  await page.getByRole('slider', SLIDER).waitFor();
  expect(await shownCall(page)).toBe('1');
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  await recorderOf(stage.client)('hostile', COMMIT);
  await stage.client.command({
    history: 'alone',
    body: { id: 'later', recorder: 'test', steps: [insert('again', 'user', 'again'), COMMIT] },
  });
  await expect.poll(() => shownCall(page)).toBe('2');
  await stage.client.start({ body: { id: 'start-empty', recorder: 'test', name: 'empty' } });
  await page.goto(`${stage.url}/?h=empty&show=time`);
  await page.getByText('./stemma record --history empty').waitFor();
  expect(faults).toEqual([]);
});
