import { defineTable, openMemoryRowStore } from '@stemma/row-store';
import { expect, it } from 'vitest';
import { BUCKET_COUNTS, countedAmong, openCountCheck, ROW_COUNTS } from '../src/counts/index.ts';

const BY_NAME = defineTable({
  name: 'by_name',
  about: '',
  key: [
    ['history', 'text'],
    ['name', 'text'],
  ],
  value: [['n', 'uint']],
});
const SHARED = defineTable({
  name: 'shared',
  about: '',
  key: [
    ['bucket', 'uint'],
    ['name', 'text'],
    ['history', 'text'],
  ],
  value: [],
});
const model = { name: 'm', version: 1, tables: [BY_NAME, SHARED], fold: () => undefined };
const isCounted = countedAmong([model]);

it('a reader of a list, or of what is not there, gets E_ROWS_DAMAGED with the generation if a row is missing', async () => {
  const generation = openMemoryRowStore().rows('g', [ROW_COUNTS, BY_NAME]);
  await generation.commit({
    partition: 0,
    expected: null,
    cursor: Uint8Array.of(1),
    changes: [
      { table: BY_NAME, key: ['h', 'a'], value: [2] },
      { table: BY_NAME, key: ['h', 'b'], value: [1] },
      { table: ROW_COUNTS, key: ['h', 'by_name'], value: [2] },
    ],
  });
  const checked = openCountCheck(isCounted, () => 0);
  const read = () =>
    generation.now((view) =>
      checked(view, 'g')
        .range(BY_NAME, { prefix: ['h'] })
        .map(({ key }) => key[1]),
    );
  expect(read()).toEqual(['a', 'b']);
  await generation.commit({
    partition: 0,
    expected: Uint8Array.of(1),
    cursor: Uint8Array.of(2),
    changes: [{ table: BY_NAME, key: ['h', 'b'], value: null }],
  });
  const damaged = expect.objectContaining({
    code: 'E_ROWS_DAMAGED',
    detail: { table: 'by_name', history: 'h', generation: 'g' },
  }) as Error;
  expect(read).toThrow(damaged);
  expect(() => generation.now((view) => checked(view, 'g').get(BY_NAME, ['h', 'b']))).toThrow(damaged);
  expect(generation.now((view) => checked(view, 'g').get(BY_NAME, ['h', 'a']))).toEqual([2]);
});

it('of more rows than are counted at every read, a missing one is noticed by whoever reads them all, and by others a minute later', async () => {
  const generation = openMemoryRowStore().rows('g', [ROW_COUNTS, BY_NAME]);
  const names = Array.from({ length: 100 }, (_, i) => String(i));
  await generation.commit({
    partition: 0,
    expected: null,
    cursor: Uint8Array.of(1),
    changes: [
      ...names.map((name, i) => ({ table: BY_NAME, key: ['h', name], value: [i] })),
      { table: ROW_COUNTS, key: ['h', 'by_name'], value: [names.length] },
    ],
  });
  let time = 0;
  const checked = openCountCheck(isCounted, () => time);
  const read = (limit?: number): number =>
    generation.now(
      (view) =>
        checked(view, 'g').range(BY_NAME, { prefix: ['h'], ...(limit !== undefined && { limit }) }).length,
    );
  expect([read(10), read()]).toEqual([10, 100]);
  await generation.commit({
    partition: 0,
    expected: Uint8Array.of(1),
    cursor: Uint8Array.of(2),
    changes: [{ table: BY_NAME, key: ['h', '50'], value: null }],
  });
  expect(read(10)).toBe(10);
  expect(() => read()).toThrow('rows of h are missing in by_name');
  time = 60_000;
  expect(() => read(10)).toThrow('rows of h are missing in by_name');
});

it('where the store says that rows of the table were removed, they are counted again before the minute is over; else they are not', async () => {
  const generation = openMemoryRowStore().rows('g', [ROW_COUNTS, BY_NAME]);
  const names = Array.from({ length: 100 }, (_, i) => String(i));
  await generation.commit({
    partition: 0,
    expected: null,
    cursor: Uint8Array.of(1),
    changes: [
      ...names.map((name, i) => ({ table: BY_NAME, key: ['h', name], value: [i] })),
      { table: ROW_COUNTS, key: ['h', 'by_name'], value: [names.length] },
    ],
  });
  let removals = 'one';
  let counted = 0;
  const checked = openCountCheck(isCounted, () => 0);
  const read = (): number =>
    generation.now((view) => {
      const telling: typeof view = Object.create(view, {
        removals: { value: () => removals },
        count: {
          value: (...given: Parameters<typeof view.count>) => {
            counted++;
            return view.count(...given);
          },
        },
      }) as typeof view;
      return checked(telling, 'g').range(BY_NAME, { prefix: ['h'], limit: 10 }).length;
    });
  expect([read(), read(), read(), counted]).toEqual([10, 10, 10, 1]);
  removals = 'two';
  expect([read(), read(), counted]).toEqual([10, 10, 2]);
  await generation.commit({
    partition: 0,
    expected: Uint8Array.of(1),
    cursor: Uint8Array.of(2),
    changes: [{ table: BY_NAME, key: ['h', '50'], value: null }],
  });
  removals = 'three';
  expect(() => read()).toThrow('rows of h are missing in by_name');
});

it('who looks rows of all histories up by a hash gets E_ROWS_DAMAGED if one of its part is missing, whosever it is; a process counts once a minute', async () => {
  const generation = openMemoryRowStore().rows('g', [BUCKET_COUNTS, SHARED]);
  await generation.commit({
    partition: 0,
    expected: null,
    cursor: Uint8Array.of(1),
    changes: [
      { table: SHARED, key: [7, 'a', 'h'], value: [] },
      { table: SHARED, key: [23, 'b', 'i'], value: [] },
      { table: SHARED, key: [8, 'c', 'h'], value: [] },
      { table: BUCKET_COUNTS, key: [7, 'shared', 'h'], value: [1] },
      { table: BUCKET_COUNTS, key: [7, 'shared', 'i'], value: [1] },
      { table: BUCKET_COUNTS, key: [8, 'shared', 'h'], value: [1] },
    ],
  });
  let time = 0;
  const checked = openCountCheck(isCounted, () => time);
  const read = (bucket: number, name: string): readonly string[] =>
    generation.now((view) =>
      checked(view, 'g')
        .range(SHARED, { prefix: [bucket, name] })
        .map(({ key }) => key[2]),
    );
  expect([read(7, 'a'), read(7, 'c'), read(8, 'c')]).toEqual([['h'], [], ['h']]);
  await generation.commit({
    partition: 0,
    expected: Uint8Array.of(1),
    cursor: Uint8Array.of(2),
    changes: [{ table: SHARED, key: [23, 'b', 'i'], value: null }],
  });
  expect(read(7, 'a')).toEqual(['h']);
  time = 60_000;
  expect(() => read(23, 'b')).toThrow(
    expect.objectContaining({
      code: 'E_ROWS_DAMAGED',
      detail: { table: 'shared', part: 7, generation: 'g' },
    }) as Error,
  );
  expect(() => read(7, 'a')).toThrow('rows of part 7 of all histories are missing in shared');
  expect(read(8, 'c')).toEqual(['h']);
});
