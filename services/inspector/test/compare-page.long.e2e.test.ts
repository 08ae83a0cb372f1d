import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { HOSTILE, recordTrial } from './record-branches.ts';
import { COMMIT, insert, recorderOf, recordShort } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  await recordTrial(client, record);
  await recordShort(client, record);
  for (const [name, words, answer] of [
    ['trial-a', 'I am looking for a flight to Oslo.', 'On Monday there are two.'],
    ['trial-b', 'I am looking for a cheap flight to Oslo.', 'On Tuesday there are two.'],
  ] as const) {
    await client.start({ body: { id: `start-${name}`, recorder: 'test', name } });
    const send = (id: string, ...steps: Parameters<typeof record>[1][]) =>
      client.command({ history: name, body: { id, recorder: 'test', steps } });
    await send(`${name}-1`, insert('policy', 'system', 'You book flights.'), COMMIT);
    await send(`${name}-2`, insert('ask', 'user', words), COMMIT);
    await send(`${name}-3`, insert('answer', 'assistant', answer), COMMIT);
  }
});

test('two branches are shown side by side: what both have folded, where they part and by whom, each difference with its cause', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=trial&show=compare&a=main&b=with-hint&part=messages',
    width: 1440,
  });
  const summary = page.getByRole('region', { name: 'Summary' });
  await summary.waitFor();
  expect(await summary.innerText()).toMatch(/diverged. Both have everything up to @c5/);
  const hint = page.getByRole('article').filter({ hasText: 'Think of the pool size first.' });
  expect(await hint.innerText()).toMatch(/only B.*inserted on B by\s*ann/s);
  const same = page.getByRole('button', { name: /^▸ \d+ blocks the same$/ }).first();
  await same.click();
  await page.locator('.same-blocks li').first().waitFor();
  expect(await page.locator('.same-blocks').first().innerText()).toContain('turn 1');
  await screenshot('compare');
  expect(await seriousFaults(page)).toEqual([]);
  await hint.getByRole('button', { name: 'ann' }).click();
  await expect.poll(() => paramOf(page, 'intervention')).toBe('hint');
  await page.goBack();
  await summary.waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('nodes that were added, removed and changed are listed for each side with who did it, when and why', async () => {
  const { page, faults } = await stage.open({ address: '?h=support&show=compare&a=@c2&b=@c4&part=nodes' });
  const b = page.getByRole('region', { name: 'Nodes of B' });
  await b.getByText('removed', { exact: true }).waitFor();
  expect(await b.innerText()).toMatch(/removed\s+found/);
  expect(await b.innerText()).toContain('expired, its ttl ran out');
  expect(await b.innerText()).toMatch(/added\s+answer.*inserted by\s+test/s);
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('trials of one task are compared as if they were branches: words that differ are marked in place', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=trial-a&show=compare&a=main&b=trial-b:main&part=messages',
    width: 390,
    height: 844,
    colorScheme: 'dark',
  });
  const asked = page.getByRole('article').filter({ hasText: 'looking for a' });
  await asked.waitFor();
  expect(await asked.locator('ins').allInnerTexts()).toEqual(['cheap ']);
  expect(await asked.locator('del').count()).toBe(0);
  const answered = page.getByRole('article').filter({ hasText: 'there are two' });
  expect(await answered.locator('del').allInnerTexts()).toEqual(['Monday']);
  expect(await answered.locator('ins').allInnerTexts()).toEqual(['Tuesday']);
  await screenshot('compare-narrow-dark');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('both are compared in numbers over time, as bytes and as message lists; the address says which', async () => {
  const { page, faults } = await stage.open({
    address: '?h=trial-a&show=compare&a=main&b=trial-b:main&part=messages',
  });
  await page.getByRole('button', { name: 'Over time' }).click();
  const table = page.getByRole('listbox', { name: 'Calls of both sides, oldest first' });
  await table.getByRole('option').first().waitFor();
  expect(await table.getByRole('option').count()).toBe(3);
  // Their frames have the same numbers, and are not the same.
  expect(await table.getByTitle('the same snapshot').count()).toBe(0);
  expect(await seriousFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Bytes' }).click();
  await page.locator('.patch .is-added').first().waitFor();
  expect(await page.locator('.patch .is-added').first().innerText()).toContain('cheap flight');
  expect(await page.locator('.patch .is-removed').first().innerText()).toContain('"id":"ask"');
  await page.getByRole('button', { name: 'OpenAI messages' }).click();
  await expect.poll(() => paramOf(page, 'part')).toBe('openai');
  await page.locator('.patch .is-added').first().waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('what is picked is compared, what does not exist is said, and hostile texts stay texts', async () => {
  const { page, faults } = await stage.open({ address: '?h=hostile&show=compare' });
  await page.getByRole('combobox', { name: 'A', exact: true }).selectOption({ label: 'trial' });
  await page.getByRole('combobox', { name: 'Position of B' }).fill('c7');
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'b')).toBe('@c7');
  await page.getByRole('combobox', { name: 'Position of B' }).fill(HOSTILE);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.goto(`${stage.url}/?h=trial&show=compare&a=@c5&b=@s9999`);
  await page.getByRole('alert').filter({ hasText: 'E_SNAPSHOT_NOT_FOUND' }).waitFor();
  expect(faults.filter((fault) => !/40\d/.test(fault))).toEqual([]);
});
