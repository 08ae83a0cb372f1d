import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { COMMIT, insert, recorderOf } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

const call = (id: string, name: string) =>
  insert(
    `call-${id}`,
    'assistant',
    { type: 'function', id, function: { name, arguments: '{}' } },
    { kind: 'call' },
  );
const result = (id: string, content: string) =>
  insert(`result-${id}`, 'tool', content, { kind: 'result', data_tool_call_id: id });

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  for (const trial of [1, 2, 3]) {
    const name = `refund-trial-${trial}`;
    await client.start({ body: { id: `start-${name}`, recorder: 'test', name } });
    await record(name, insert('ask', 'user', 'I want my money back.'), COMMIT);
    await record(name, call('a', 'lookup'), result('a', 'order 7'), COMMIT);
    const second = trial === 3 ? 'transfer' : 'refund';
    await record(name, call('b', second), result('b', trial === 2 ? 'Error: not allowed' : 'done'), COMMIT);
    await record(name, insert('end', 'assistant', 'That is all.'));
  }
  await client.start({ body: { id: 'start-parcel', recorder: 'test', name: 'parcel' } });
  await record('parcel', insert('ask', 'user', 'Where is it?'), COMMIT);
});

test('the page opens with all runs, grouped by task, and says where a trial parts from the first', async () => {
  const { page, faults, screenshot } = await stage.open({ width: 1440, height: 900 });
  const list = page.getByRole('list', { name: 'Runs' });
  await list.getByText('refund-trial-3').waitFor();
  expect(paramOf(page, 'show')).toBe('runs');
  await expect.poll(() => list.innerText()).toMatch(/refund\s+3 runs/);
  expect(await list.getByRole('listitem').filter({ hasText: 'refund-trial-3' }).innerText()).toMatch(
    /@c2\s+transfer \| refund/,
  );
  await screenshot('runs');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('all failed calls of a tool in all runs are two clicks away, and each is a link', async () => {
  const { page, faults } = await stage.open({ width: 1440, height: 900 });
  const filters = page.getByRole('complementary', { name: 'Filters' });
  await filters.getByRole('button', { name: /^refund / }).click();
  await filters.getByRole('button', { name: /a tool failed/ }).click();
  const list = page.getByRole('list', { name: 'Runs' });
  await expect.poll(() => page.getByRole('status').filter({ hasText: ' of ' }).innerText()).toBe('1 of 4');
  expect(await list.innerText()).toMatch(/refund-trial-2/);
  expect(paramOf(page, 'q')).toBe('tool:refund failed:true');
  await list.getByRole('link', { name: /refund failed/ }).click();
  await expect.poll(() => paramOf(page, 'at')).toBe('@c2');
  expect(paramOf(page, 'show')).toBe('call');
  expect(faults).toEqual([]);
});

test('where two runs that are ticked decide otherwise first is three clicks away, and a key leads on', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?show=runs', width: 1440, height: 900 });
  for (const trial of [1, 3])
    await page.getByRole('checkbox', { name: `Compare refund-trial-${trial}` }).click();
  await page.getByRole('button', { name: 'Compare 2' }).click();
  const list = page.getByRole('listbox', { name: 'Decisions of A and B' });
  await list.waitFor();
  const chosen = list.getByRole('option', { selected: true });
  await expect.poll(() => chosen.innerText()).toMatch(/@c2\s+refund[^]*▼ other tool[^]*transfer[^]*@c2/);
  const opened = page.getByRole('region', { name: 'The chosen pair', exact: true });
  expect(await opened.innerText()).toMatch(/refund[^]*transfer/);
  await list.getByRole('option').first().click();
  await expect.poll(() => chosen.innerText()).toMatch(/lookup[^]*same/);
  await page.keyboard.press('n');
  await expect.poll(() => chosen.innerText()).toMatch(/other tool/);
  await screenshot('compare-decisions');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('two runs that are ticked are compared, and a query that is wrong says so', async () => {
  const { page, faults } = await stage.open({ address: '?show=runs', width: 1440, height: 900 });
  for (const trial of [1, 3])
    await page.getByRole('checkbox', { name: `Compare refund-trial-${trial}` }).check();
  await page.getByRole('button', { name: 'Compare 2' }).click();
  await expect.poll(() => paramOf(page, 'show')).toBe('compare');
  await page.keyboard.press('h');
  const search = page.getByRole('searchbox', { name: 'Filter runs' });
  await search.fill('calls:many');
  await search.press('Enter');
  await page.getByText(/calls: wants a number/).waitFor();
  expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
});

test('on a phone the runs stand in one column', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?show=runs', width: 390, height: 844 });
  await page.getByText('refund-trial-1').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await screenshot('runs-390');
  expect(faults).toEqual([]);
});
