import { expect, test } from 'vitest';
import { RecentMap } from './recent-map.ts';

const keysOf = (map: RecentMap<number, string>): readonly number[] =>
  [...map.entries()].map(([key]) => key).sort((a, b) => a - b);

test('a recent map has the entries used last: as many as it says, and at most twice as many', () => {
  const map = new RecentMap<number, string>(3);
  for (let key = 1; key <= 10; key++) {
    map.set(key, `v${key}`);
    const kept = keysOf(map);
    expect(kept).toEqual(expect.arrayContaining([key - 2, key - 1, key].filter((each) => each > 0)));
    expect(kept.length).toBeLessThanOrEqual(6);
  }
});

test('to get a value uses it, and to peek at it does not', () => {
  const map = new RecentMap<number, string>(2);
  for (const key of [1, 2, 3]) map.set(key, `v${key}`);
  expect([map.get(1), map.peek(2)]).toEqual(['v1', 'v2']);
  map.set(4, 'v4');
  expect([keysOf(map), map.peek(2), map.get(2)]).toEqual([[1, 3, 4], undefined, undefined]);
});

test('an entry is there once, with its last value, and not after it is deleted', () => {
  const map = new RecentMap<number, string>(2);
  for (const key of [1, 2, 3]) map.set(key, 'before');
  map.set(1, 'after');
  expect([...map.entries()].filter(([key]) => key === 1)).toEqual([[1, 'after']]);
  for (const key of [1, 2]) map.delete(key);
  expect(keysOf(map)).toEqual([3]);
});

test('a recent map of nothing keeps nothing', () => {
  const map = new RecentMap<number, string>(0);
  map.set(1, 'v1');
  expect(map.get(1)).toBeUndefined();
});
