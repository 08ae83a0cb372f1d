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
