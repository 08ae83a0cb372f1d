import { join } from 'node:path';
import { expect, test } from 'vitest';
import { paramOf, useStage } from './stage.ts';

const stage = useStage();

test('the search finds a text in any history and opens the call that showed it first, by keys alone; the address says what is looked for', async () => {
  const { home } = stage;
  const by = { recorder: 'agent' };
  for (const [name, text] of [
    ['parcel', 'The parcel of order 1042 is lost.'],
    ['hostile', 'lost <img src=x onerror="alert(1)"> \u202egnirts'],
  ] as const) {
    const history = `h${name}`;
    await home.submit({ id: `start ${name}`, history, branchId: 0, by, steps: [{ op: 'start', name }] });
    for (const [id, content] of [
      ['one', 'Hello.'],
      ['two', text],
      ['three', 'Thanks.'],
    ] as const)
      await home.submit({
        id: `${name} ${id}`,
        history,
        branchId: 0,
        by,
        steps: [
          { op: 'insert', parent: '^ah', node: { id, nodeType: 'cb', role: 'user', content } },
          { op: 'commit' },
        ],
      });
  }
  const { page, faults } = await stage.open({ address: '' });
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  await page.keyboard.press('/');
  await page.getByRole('searchbox', { name: 'Search in all histories' }).fill('"order 1042" lost');
  const hits = page.locator('.search-hit');
  await hits.first().waitFor();
  expect(await hits.count()).toBe(1);
  expect(await hits.locator('mark').allInnerTexts()).toEqual(['order 1042', 'lost']);
  expect(paramOf(page, 'find')).toBe('"order 1042" lost');
  await page.screenshot({ path: join(import.meta.dirname, '../artifacts/search.png') });
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('tree', { name: 'Context tree at @c2' }).waitFor();
  expect(paramOf(page, 'node')).toBe('two');
  await page.goBack();
  await hits.first().waitFor();
  await page.getByRole('searchbox', { name: 'Search in all histories' }).fill('lost');
  await expect.poll(() => hits.count()).toBe(2);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 760 });
  await page.screenshot({ path: join(import.meta.dirname, '../artifacts/search-narrow-dark.png') });
  expect(await page.locator('.search-hit img').count()).toBe(0);
  expect(await hits.filter({ hasText: 'hostile' }).locator('.hidden-character').allInnerTexts()).toEqual([
    '202E',
  ]);
  await page.getByRole('searchbox', { name: 'Search in all histories' }).fill('-lost');
  await page.getByText('E_SEARCH_INVALID').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
});
