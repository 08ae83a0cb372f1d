import { expect, test } from 'vitest';
import { quantile, spread, tenths } from './measure.ts';
import { bytes, figure, printTable } from './table.ts';
import { prose, seeded } from './text.ts';

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

test('a quantile is the smallest value that the given share of all values does not exceed', () => {
  expect([0, 0.5, 0.99, 1].map((p) => quantile(hundred, p))).toEqual([1, 50, 99, 100]);
  expect(quantile([7], 0.99)).toBe(7);
  expect(() => quantile([], 0.5)).toThrow(RangeError);
});

test('the first and the last tenth of a series keep its order', () => {
  expect(tenths(hundred)).toEqual({
    first: { count: 10, median: 95, p99: 100 },
    last: { count: 10, median: 5, p99: 10 },
  });
  expect(tenths([3])).toEqual({ first: spread([3]), last: spread([3]) });
});

test('numbers are printed with three digits and with thousands separated', () => {
  expect([0, 0.000_123_4, 0.5, 12.345, 999.9, 123_456, 1_234_567].map(figure)).toEqual([
    '0',
    '0.000123',
    '0.5',
    '12.3',
    '1,000',
    '123,000',
    '1,230,000',
  ]);
  expect([812, 4_500_000, 3_550_000_000].map(bytes)).toEqual(['0.812 kB', '4.5 MB', '3.55 GB']);
});

test('a table is Markdown with aligned columns', () => {
  expect(
    printTable({
      title: 'T',
      columns: ['', 'ms'],
      rows: [
        ['a', '1'],
        ['long', '22'],
      ],
      notes: ['so'],
    }),
  ).toBe('### T\n\n|      |  ms |\n| ---- | --: |\n| a    |   1 |\n| long |  22 |\n\n- so');
});

test('the generated prose is the same in every run and has exactly the requested length', () => {
  expect(prose(seeded(5), 300)).toBe(prose(seeded(5), 300));
  expect(prose(seeded(5), 1_024)).toHaveLength(1_024);
  expect(prose(seeded(5), 100)).not.toBe(prose(seeded(6), 100));
});
