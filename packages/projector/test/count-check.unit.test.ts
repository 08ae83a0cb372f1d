import { defineTable, openMemoryRowStore } from '@stemma/row-store';
import { expect, it } from 'vitest';
import { countedAmong, openCountCheck, ROW_COUNTS } from '../src/row-counts.ts';

const BY_NAME = defineTable({
  name: 'by_name',
  about: '',
  key: [
    ['history', 'text'],
    ['name', 'text'],
  ],
  value: [['n', 'uint']],
});
const isCounted = countedAmong([{ name: 'm', version: 1, tables: [BY_NAME], fold: () => undefined }]);

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
