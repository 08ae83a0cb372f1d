import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

test('compare gives two positions side by side, and as a page that is let nothing do [context-tree §7]', async () => {
  const history = 'airline';
  const { a, b, stem, relation } = await airline.client.compare({ history, a: '@c2', b: '@c3', excerpt: 5 });
  const diff = await airline.client.diff({ history, a: '@c2', b: '@c3' });

  expect(relation).toBe('a-before-b');
  expect(stem.position).toEqual(a.position);
  expect(b.added.map(({ id }) => id)).toEqual(diff.added);
  const thread = JSON.parse(await airline.client.thread({ history, at: '@c3' })) as unknown[];
  expect(b.shown).toBe(thread.length);
  expect(b.tokens).toBeGreaterThan(0);
  expect(b.added.every(({ excerpt }) => excerpt === null || excerpt.length <= 5)).toBe(true);

  const page = await airline.client.comparePage({ history, a: '@c2', b: 'main' });
  expect(page).toContain('http-equiv="Content-Security-Policy"');
  await expect(airline.client.compare({ history, a: '@c2', b: 'nobody' })).rejects.toMatchObject({
    code: 'E_HISTORY_NOT_FOUND',
  });
});
