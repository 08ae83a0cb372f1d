import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { COMMIT, insert, recorderOf } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

const LONG_NAME = 'a-refund-that-was-refused-twice-before-it-was-paid';

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  for (const name of ['one', 'two', 'three', LONG_NAME]) {
    await client.start({ body: { id: `start-${name}`, recorder: 'test', name } });
    for (let call = 1; call <= 3; call++)
      await record(name, insert(`turn-${call}`, 'user', `turn ${call}`), COMMIT);
  }
  await client.command({
    history: LONG_NAME,
    body: {
      ...{ id: 'hint', actor: 'ann', notes: 'to be seen' },
      steps: [
        {
          op: 'insert',
          parent: '^ah',
          node: { id: 'hint', nodeType: 'cb', role: 'user', kind: 'text', content: 'be brief' },
        },
      ],
    },
  });
});

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => (document.activeElement as HTMLElement | null)?.className ?? '');

const shown = async (page: Page): Promise<void> => {
  await page.locator('.thread-panel .message').first().waitFor();
};

test('the dialog after an intervention closes with Esc, and no key acts behind it', async () => {
  const { page, faults } = await stage.open({ address: '?h=two&dialog=inject' });
  const dialog = page.getByRole('dialog', { name: 'Intervene' });
  await dialog.getByLabel('Message').fill('a hint');
  await dialog.getByLabel('Actor').fill('ann');
  await dialog.locator('button.primary').click();
  await dialog.getByRole('button', { name: 'Show it' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  expect(paramOf(page, 'show')).toBe(null);
  expect(paramOf(page, 'at')).toBe(null);
  await page.keyboard.press('Escape');
  await expect.poll(() => paramOf(page, 'dialog')).toBe(null);
  expect(await page.locator('dialog[open]').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('the list of histories is one stop of Tab, and arrows go through it', async () => {
  const { page, faults } = await stage.open({ address: '?h=one' });
  await shown(page);
  expect(await page.locator('.history-list button[tabindex="0"]').count()).toBe(1);
  await page.locator('.history[tabindex="0"]').focus();
  const before = await page.locator('.history:focus .history-name').innerText();
  expect(before).toBe('one');
  await page.keyboard.press('ArrowUp');
  expect(await page.locator('.history:focus .history-name').innerText()).not.toBe('one');
  expect(paramOf(page, 'h')).toBe('one');
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'h')).not.toBe('one');
  await page.keyboard.press('Tab');
  expect(await focused(page)).not.toContain('history');
  expect(faults).toEqual([]);
});

test('the table of runs is one stop of Tab: arrows go through runs, the space bar ticks one', async () => {
  const { page, faults } = await stage.open({ address: '?show=runs', width: 1440, height: 900 });
  const list = page.getByRole('list', { name: 'Runs' });
  await list.getByText(LONG_NAME).waitFor();
  await list.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press(' ');
  await expect.poll(() => paramOf(page, 't')).not.toBe(null);
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'show')).toBe('call');
  expect(faults).toEqual([]);
});

test('Ctrl K takes a position, and the table of keys opens at its top', async () => {
  const { page, faults } = await stage.open({ address: '?h=one', width: 1000, height: 600 });
  await shown(page);
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: /a position/ }).fill('all actions');
  // It does not offer itself.
  expect(await page.getByText('all actions by their names').count()).toBe(0);
  await page.getByRole('searchbox', { name: /a position/ }).fill('@c2');
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'at')).toBe('@c2');
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keys' });
  await help.waitFor();
  expect(await help.evaluate((dialog) => dialog.scrollTop)).toBe(0);
  expect(faults).toEqual([]);
});

test('an unknown history and a wrong position say what is wrong, and what to do next', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=nothing-such&show=call' });
  const history = page.getByRole('region', { name: 'This history cannot be shown' });
  await expect.poll(() => history.innerText()).toMatch(/no history "nothing-such"/);
  expect(await seriousFaults(page)).toEqual([]);
  await history.getByRole('button', { name: 'All runs' }).click();
  await page.getByRole('list', { name: 'Runs' }).waitFor();
  for (const at of ['@c99', '@s9999', 'no-such-place']) {
    await page.goto(`${stage.url}/?h=one&show=call&at=${at}`);
    const position = page.getByRole('region', { name: 'This position cannot be shown' });
    await expect.poll(() => position.innerText()).toMatch(/has the calls @c\d to @c\d/);
    await screenshot('fault-position');
    await position.getByRole('button', { name: /Show the newest call/ }).click();
    await page.getByRole('region', { name: 'The call', exact: true }).waitFor();
  }
  expect(faults.filter((fault) => !/40[04]/.test(fault))).toEqual([]);
});

test('a server that does not answer has a page of its own', async () => {
  const { page } = await stage.open({ address: '?show=runs' });
  await page.getByRole('list', { name: 'Runs' }).getByText(LONG_NAME).waitFor();
  await page.route('**/api/**', (route) => route.abort());
  await page.getByRole('link', { name: LONG_NAME }).click();
  const fault = page.getByRole('region', { name: 'The server does not answer' });
  await expect.poll(() => fault.innerText()).toMatch(/stemma up/);
  expect(await fault.getByRole('button', { name: 'Try again' }).count()).toBe(1);
});

test('the filters of interventions can be read at 1440 pixels', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: `?h=${LONG_NAME}&side=interventions`,
    width: 1440,
    height: 900,
  });
  const type = page.getByRole('combobox', { name: 'Type' });
  await type.waitFor();
  for (const select of await page.locator('.filter select').all())
    expect((await select.boundingBox())?.width).toBeGreaterThan(100);
  for (const input of await page.locator('.filter input').all())
    expect((await input.boundingBox())?.width).toBeGreaterThan(150);
  await screenshot('interventions-1440');
  expect(faults).toEqual([]);
});

test('at 390 pixels names are whole, and Intervene is on the screen', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: `?h=${LONG_NAME}&show=call`,
    width: 390,
    height: 844,
  });
  const name = page.locator('.head-what b');
  await name.waitFor();
  const box = await name.boundingBox();
  expect(await name.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
  expect((box?.x ?? 0) + (box?.width ?? 400)).toBeLessThanOrEqual(390);
  const intervene = await page.getByRole('button', { name: /^Intervene/ }).boundingBox();
  expect((intervene?.x ?? 0) + (intervene?.width ?? 400)).toBeLessThanOrEqual(390);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await screenshot('call-390');
  expect(faults).toEqual([]);
});

test('views for every day are tabs, the rare ones are in a menu that keys go through, and their keys stay', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=one&show=call',
    width: 1440,
    height: 900,
  });
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.waitFor();
  expect(await views.locator('> .tab').allInnerTexts()).toEqual(['Call', 'Context', 'Compare', 'Rerun']);
  await views.getByRole('button', { name: 'More' }).click();
  const menu = page.getByRole('menu', { name: 'More views' });
  await expect.poll(() => menu.locator(':focus').innerText()).toMatch(/Calls/);
  await screenshot('more-views');
  expect(await seriousFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await menu.count()).toBe(0);
  await page.keyboard.press('Enter');
  await expect.poll(() => menu.locator(':focus').innerText()).toMatch(/Calls/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'show')).toBe('time');
  expect(await menu.count()).toBe(0);
  await views.getByRole('button', { name: 'Time', exact: true }).waitFor();
  await page.keyboard.press('y');
  await expect.poll(() => paramOf(page, 'show')).toBe('system');
  await page.setViewportSize({ width: 390, height: 844 });
  await views.getByRole('button', { name: 'More' }).click();
  await menu.waitFor();
  await screenshot('more-views-390');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(faults).toEqual([]);
});
