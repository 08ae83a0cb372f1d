import type { Key, RowReader, Table } from '@stemma/row-store';
import { expect, it } from 'vitest';
import { listFrameSummaries } from '../src/index.ts';

/** The rows of a history with frames up to a number, of whose summaries these are there. */
const rowsWith = (newest: number, seqs: readonly number[]): RowReader =>
  ({
    get: (table: Table) => table.value.map(([name]) => (name === 'seq' ? newest : null)),
    range: (_table: Table, { from, to = Infinity, limit }: { from: number; to?: number; limit?: number }) =>
      seqs
        .filter((seq) => seq >= from && seq < to)
        .slice(0, limit)
        .map((seq): { key: Key; value: readonly unknown[] } => ({ key: ['h', seq], value: [0] })),
  }) as unknown as RowReader;

it('whoever lists frames gets E_ROWS_DAMAGED where the summary of one is missing, at the beginning, in the middle, at the end, or of all', () => {
  const list = (seqs: readonly number[], page: { from?: number; to?: number; limit?: number } = {}) => {
    try {
      return listFrameSummaries(rowsWith(3, seqs), 'h', page).map(({ seq }) => seq);
    } catch (error) {
      return (error as { readonly code: string }).code;
    }
  };
  expect(list([0, 1, 2, 3])).toEqual([0, 1, 2, 3]);
  expect(list([0, 1, 2, 3], { from: 2 })).toEqual([2, 3]);
  expect(list([0, 1, 2, 3], { from: 1, to: 3 })).toEqual([1, 2]);
  expect(list([0, 1, 2, 3], { from: 1, limit: 2 })).toEqual([1, 2]);
  expect(list([0, 1, 2, 3], { from: 4, limit: 2 })).toEqual([]);
  for (const seqs of [[], [1, 2, 3], [0, 2, 3], [0, 1, 2]]) expect(list(seqs)).toBe('E_ROWS_DAMAGED');
  expect(list([], { from: 1, limit: 2 })).toBe('E_ROWS_DAMAGED');
  expect(list([0, 2, 3], { from: 1, to: 3 })).toBe('E_ROWS_DAMAGED');
});
