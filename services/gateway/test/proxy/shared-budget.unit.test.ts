import { expect, test } from 'vitest';
import { openSharedBudget } from '../../src/proxy/shared-budget.ts';

test('what runs at a time fits into the budget, the order is that of the calls, and what is too large runs alone', async () => {
  const share = openSharedBudget(10);
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const run = async (name: string, weight: number): Promise<void> => {
    ends.set(name, await share(weight));
    began.push(name);
  };
  const end = async (name: string): Promise<readonly string[]> => {
    ends.get(name)?.();
    for (let i = 0; i < 5; i++) await Promise.resolve();
    return began.splice(0);
  };
  const all = [run('a', 4), run('b', 6), run('c', 5), run('large', 99), run('d', 1)];
  expect(await end('')).toEqual(['a', 'b']);
  expect(await end('b')).toEqual(['c']);
  expect(await end('a')).toEqual([]);
  expect(await end('c')).toEqual(['large']);
  expect(await end('large')).toEqual(['d']);
  await Promise.all(all);
});
