import type { ApiClient } from '@stemma/api';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { paramOf, useStage } from './stage.ts';

const SEEDS = [
  'The sea keeps what it is given.',
  'Nobody counts the stones at night.',
  'A door is no way.',
  'We wrote our names in the sand.',
  '<img src=x onerror=alert(1)><script>alert(2)</script>',
  'The wind has no address.',
];

const runWith = (client: ApiClient, history: string, rounds: number) =>
  client.runPool({ history, body: { actor: 'ann', notes: 'a test', rounds } });
const stage = useStage(async (client) => {
  await client.startPool({
    body: {
      id: 'sea',
      actor: 'ann',
      name: 'sea',
      messages: SEEDS,
      settings: { sample_size: 3, active_pool_size: 20, seed: 7 },
    },
  });
  await runWith(client, 'sea', 24);
  for (const name of ['one', 'two']) {
    const at = { branchId: 0, seq: 20 };
    await client.command({
      history: 'sea',
      body: { id: `fork-${name}`, actor: 'ann', steps: [{ op: 'fork', name, at }] },
    });
    await runWith(client, `sea:${name}`, 3);
  }
  await client.start({ body: { id: 'talk', recorder: 'agent', name: 'talk' } });
});

const rowsOf = (page: Page) => page.getByRole('listbox', { name: 'Messages' }).getByRole('option');
/** Without those of a browser that draws WebGL without a graphics card, whose every picture is read back. */
const faultsOf = (faults: readonly string[]): readonly string[] =>
  faults.filter((fault) => !fault.includes('GPU stall due to ReadPixels'));
const loaded = async (page: Page): Promise<void> => {
  await rowsOf(page).first().waitFor();
  await page.locator('.point-map canvas[data-drawn-by]:not([data-drawn-by=""])').waitFor();
};

test('the messages of a pool are listed with round, source and how often rounds showed each; one is chosen by keys, with those nearest to it', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=sea&show=pool',
    width: 1440,
    height: 900,
  });
  await loaded(page);
  expect(await page.getByRole('status').filter({ hasText: '30 messages, round 24' }).count()).toBe(1);
  const list = page.getByRole('listbox', { name: 'Messages' });
  await list.focus();
  await page.keyboard.press('Home');
  await expect.poll(() => rowsOf(page).first().getAttribute('aria-selected')).toBe('true');
  const message = page.getByRole('region', { name: 'Message', exact: true });
  await message.getByRole('heading', { name: 'Nearest messages' }).waitFor();
  await expect.poll(() => message.getByRole('listitem').count()).toBe(12);
  expect(await message.innerText()).toContain(SEEDS[0]);
  await screenshot('pool');
  await message.getByRole('button', { name: 'List what is similar' }).click();
  await expect.poll(() => paramOf(page, 'filter')).toContain('near:');
  await expect.poll(() => rowsOf(page).first().innerText()).toContain(SEEDS[0]);
  const address = page.url();
  const shown = await page
    .getByRole('region', { name: 'Messages of the pool' })
    .getByRole('status')
    .innerText();
  await page.goto('about:blank');
  await page.goto(address);
  await loaded(page);
  await expect
    .poll(() => page.getByRole('region', { name: 'Messages of the pool' }).getByRole('status').innerText())
    .toBe(shown);
  expect(await seriousFaults(page)).toEqual([]);
  expect(faultsOf(faults)).toEqual([]);
});

test('filters by words, rounds, source and attractor narrow the list, stand in the address, and say what to do where nothing is left', async () => {
  const { page, faults } = await stage.open({ address: '?h=sea&show=pool&filter=from:0+to:0' });
  await loaded(page);
  await expect.poll(() => rowsOf(page).count()).toBe(SEEDS.length);
  await page.getByRole('combobox', { name: /^source/ }).selectOption('mind');
  await page.getByText('No message passes these filters.').waitFor();
  await page.getByRole('button', { name: 'Show all messages' }).click();
  await expect.poll(() => paramOf(page, 'filter')).toBe(null);
  await page.getByRole('searchbox', { name: 'words' }).fill('NAMES sand');
  await expect.poll(() => rowsOf(page).first().innerText()).toContain('We wrote our names');
  await page.getByRole('searchbox', { name: 'words' }).fill('');
  const attractor = page.getByRole('combobox', { name: /^attractor/ });
  const first = await attractor.locator('option').nth(1).getAttribute('value');
  await attractor.selectOption(first);
  await expect.poll(() => paramOf(page, 'filter')).toBe(`cluster:${first ?? ''}`);
  await expect.poll(() => page.getByText(/\d+ of 30 messages/).count()).toBe(1);
  expect(faultsOf(faults)).toEqual([]);
});

test('the map is moved by keys, coloured, and circled; what is circled is what the list shows', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=sea&show=pool',
    colorScheme: 'dark',
    width: 1440,
    height: 900,
  });
  await loaded(page);
  const map = page.getByRole('application');
  await map.focus();
  for (const key of ['+', 'ArrowLeft', 'ArrowUp', '-', '0']) await page.keyboard.press(key);
  await page.getByRole('combobox', { name: /^colours/ }).selectOption('cluster');
  await page.getByRole('list', { name: 'What the colours mean' }).getByText('in none').waitFor();
  await page.getByRole('button', { name: 'Circle' }).click();
  const box = await map.boundingBox();
  if (box === null) throw new Error('the map has no box');
  const corners = [
    [0.02, 0.02],
    [0.5, 0.02],
    [0.5, 0.98],
    [0.02, 0.98],
  ] as const;
  const [start] = corners;
  await page.mouse.move(box.x + start[0] * box.width, box.y + start[1] * box.height);
  await page.mouse.down();
  for (const [x, y] of corners)
    await page.mouse.move(box.x + x * box.width, box.y + y * box.height, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => paramOf(page, 'filter')).toContain('lasso:');
  await page.getByText(/\d+ of 30 messages/).waitFor();
  await screenshot('pool-circled-dark');
  const few = await rowsOf(page).count();
  await page.reload();
  await loaded(page);
  await expect.poll(() => rowsOf(page).count()).toBe(few);
  expect(await seriousFaults(page)).toEqual([]);
  expect(faultsOf(faults)).toEqual([]);
});

test('a browser without WebGL gets the same map on a canvas, and is told so', async () => {
  const { page, faults } = await stage.open({ address: '?h=sea' });
  await page.addInitScript(`{
    const own = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind === 'webgl' ? null : own.call(this, kind, ...rest);
    };
  }`);
  await page.goto(`${stage.url}/?h=sea&show=pool`);
  await loaded(page);
  await page.getByText('This browser has no WebGL').waitFor();
  const dots = (): Promise<number> =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.point-map canvas');
      const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      return pixels.filter((value, i) => i % 4 === 3 && value > 100).length;
    });
  await expect.poll(dots).toBeGreaterThan(100);
  expect(faultsOf(faults)).toEqual([]);
});

test('a browser that draws without a graphics card is known by the name of its renderer', async () => {
  const { page } = await stage.open({ address: '?h=sea&show=pool' });
  await loaded(page);
  // The browser of the tests is started without one.
  expect(await page.locator('.point-map canvas').getAttribute('data-drawn-by')).toMatch(
    /^(software|canvas)$/,
  );
});

test('figures and attractors are shown over rounds, with a table that leads to the pool as it was', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=sea&show=pool&part=rounds' });
  const table = page.getByRole('listbox', { name: 'Snapshots, newest first' });
  await table.getByRole('option').first().waitFor();
  expect(await page.locator('figure.small-chart').count()).toBe(6);
  await screenshot('pool-rounds');
  expect(await seriousFaults(page)).toEqual([]);
  await table.getByRole('option').nth(4).click();
  await expect.poll(() => paramOf(page, 'at')).toMatch(/^@s\d+$/);
  await loaded(page);
  await page.goBack();
  await table.waitFor();
  await page.getByRole('region', { name: 'Attractors over rounds' }).getByRole('button').first().click();
  await expect.poll(() => paramOf(page, 'filter')).toMatch(/cluster:\d/);
  expect(faultsOf(faults)).toEqual([]);
});

test('a verdict on chosen branches says that two runs are too few, and its address restores it', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=sea&show=pool&part=verdict' });
  await page.getByRole('radio', { name: 'arm A' }).nth(1).check();
  await page.getByRole('radio', { name: 'arm B' }).nth(2).check();
  await page.getByRole('button', { name: 'Compute the verdict' }).click();
  await page.getByRole('heading', { name: 'cannot tell' }).waitFor({ timeout: 60_000 });
  await page.getByText('The arms have too few runs').waitFor();
  const { branches } = await stage.client.branches({ history: 'sea' });
  const idOf = (name: string) => String(branches.find((branch) => branch.name === name)?.branchId);
  expect([paramOf(page, 'a'), paramOf(page, 'b')]).toEqual([idOf('one'), idOf('two')]);
  await page.getByText('One more run of an arm is a fork with another seed').waitFor();
  await page.getByText('What this rests on, and its limits').click();
  await page.getByText('Each half is called different at p ≤ 0.025').waitFor();
  await screenshot('pool-verdict');
  await page.reload();
  await page.getByRole('heading', { name: 'cannot tell' }).waitFor({ timeout: 60_000 });
  expect(await seriousFaults(page)).toEqual([]);
  expect(faultsOf(faults)).toEqual([]);
});

test('below a verdict stand figures and attractors of both arms over rounds, their interventions, and all of it as a file', async () => {
  const { branches } = await stage.client.branches({ history: 'sea' });
  const [a, b] = ['one', 'two'].map(
    (name) => branches.find((branch) => branch.name === name)?.branchId ?? -1,
  );
  await stage.client.command({
    history: 'sea:two',
    body: {
      id: 'probe',
      actor: '<b>bob</b>',
      notes: '<img src=x onerror=alert(1)>',
      steps: [{ op: 'inject', text: 'What if this could be undone?' }],
    },
  });
  const { page, faults, screenshot } = await stage.open({
    address: `?h=sea&show=pool&part=verdict&a=${a}&b=${b}`,
    width: 1440,
    height: 1800,
  });
  const figures = page.getByRole('region', { name: 'Figures over rounds', exact: true });
  await figures.waitFor({ timeout: 60_000 });
  expect(await figures.locator('figure').count()).toBe(6);
  expect(await figures.innerText()).toMatch(/they part after round \d+/);
  await figures.getByText('The same as a table').click();
  await expect.poll(() => figures.getByRole('row').count()).toBeGreaterThan(3);
  for (const arm of ['A', 'B'])
    await page.getByRole('region', { name: `Attractors of ${arm} over rounds` }).waitFor();
  const acts = page.getByRole('region', { name: 'Interventions in B' });
  await expect.poll(() => acts.innerText()).toContain('What if this could be undone?');
  expect(await acts.innerText()).toContain('<img src=x onerror=alert(1)>');
  await screenshot('pool-report');
  expect(await seriousFaults(page)).toEqual([]);
  const link = page.getByRole('link', { name: 'Download the report' });
  const file = await (await fetch(new URL((await link.getAttribute('href')) ?? '', stage.url))).text();
  for (const part of ['Verdict: cannot tell', 'Figures over rounds', 'Map of the messages', 'undone?'])
    expect(file).toContain(part);
  await acts.getByRole('button', { name: 'message_inject' }).click();
  await page.getByRole('complementary', { name: 'Selected intervention' }).waitFor();
  expect(faultsOf(faults)).toEqual([]);
});

test('a history that is no pool says how to start one, rounds that are made while somebody looks appear, and a phone shows one thing below the other', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=talk&show=pool',
    width: 390,
    height: 844,
  });
  await page.getByText('./stemma pool init sea').waitFor();
  await page.goto(`${stage.url}/?h=sea:one&show=pool`);
  await loaded(page);
  await screenshot('pool-narrow');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(await seriousFaults(page)).toEqual([]);
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  const status = page.getByRole('region', { name: 'Messages of the pool' }).getByRole('status');
  const before = await status.innerText();
  await runWith(stage.client, 'sea:one', 1);
  await expect.poll(() => status.innerText()).not.toBe(before);
  await page.getByRole('button', { name: /new messages?: draw again/ }).click();
  await page.getByRole('button', { name: /draw again/ }).waitFor({ state: 'detached' });
  // The browser itself notes the answer that says what the history is not.
  expect(faultsOf(faults)).toEqual([expect.stringContaining('409 (Conflict)')]);
});
