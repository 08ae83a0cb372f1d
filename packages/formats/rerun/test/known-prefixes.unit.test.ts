import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openKnownPrefixes } from '../src/known-prefixes.ts';

test('lists are mapped after each other as each alone', () => {
  const of = (item: number, before = ''): string => `${before}${item},`;
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat({ max: 2 }), { maxLength: 6 }), { maxLength: 40 }), (lists) => {
      const map = openKnownPrefixes<number, string>();
      for (const items of lists)
        expect(map(items, of)).toEqual(
          items.map((_, i) => items.slice(0, i + 1).reduce((text, item) => of(item, text), '')),
        );
    }),
  );
});

test('what an earlier list ended with is not mapped again', () => {
  const map = openKnownPrefixes<number, number>();
  let calls = 0;
  for (let length = 0; length <= 100; length++)
    map(
      Array.from({ length }, (_, i) => i),
      (item) => (calls++, item),
    );
  expect(calls).toBe(100);
});
