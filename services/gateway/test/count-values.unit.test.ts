import { expect, test } from 'vitest';
import { openValueCounter } from '../src/front/count-values.ts';

/** All splits of a text into two parts, counted. */
const counts = (text: string): readonly number[] => {
  const bytes = Buffer.from(text);
  return Array.from({ length: bytes.length + 1 }, (_, at) => {
    const counter = openValueCounter();
    counter.add(bytes.subarray(0, at));
    return counter.add(bytes.subarray(at));
  });
};

test.each([
  ['1', 1],
  ['{}', 2],
  ['[{},{},{}]', 7],
  ['{"a":[1,2],"b":{}}', 6],
  ['"[,{"', 1],
  ['["\\"[,",1]', 3],
  ['["\\\\",[1]]', 4],
  ['{"\\\\\\"":"\\\\","é":"," }', 3],
])(
  'the counter counts %s as %i: opening brackets and commas outside of texts, and the value itself; however the bytes are split',
  (text, count) => {
    expect(new Set(counts(text))).toEqual(new Set([count]));
  },
);

test('a text that is longer than what is looked at at once ends where it ends, with escapes on every border', () => {
  for (let length = 4_090; length < 4_100; length++)
    for (const end of ['"', '\\""', '\\\\"', '\\\\\\""', `${'x'.repeat(9_000)}"`]) {
      const counter = openValueCounter();
      expect(
        counter.add(Buffer.from(`["${'[,'.repeat(length / 2)}${'.'.repeat(length % 2)}${end},{}]`)),
      ).toBe(4);
    }
});
