import { fail } from '@stemma/errors';
import { COUNTED_TABLES } from '@stemma/history-store';
import type { ReadModel } from '@stemma/read-models';
import { defineTable, type Table } from '@stemma/row-store';
import { defined } from '@stemma/values';

/*
 * The checksum of a row says that it is what was written, not that it is there. So folds count, and readers compare.
 */

export const ROW_COUNTS = defineTable({
  name: 'row_counts',
  about: 'How many rows a table has of a history, by which missing ones are noticed.',
  key: [
    ['history', 'text'],
    ['table', 'text'],
  ],
  value: [['rows', 'uint']],
});

export const BUCKET_COUNTS = defineTable({
  name: 'bucket_counts',
  about:
    'The same for tables that are looked up over all histories: how many rows of a history are in the buckets of which 16 is the difference; `part` is the first of these. Each history writes its own.',
  key: [
    ['part', 'uint'],
    ['table', 'text'],
    ['history', 'text'],
  ],
  value: [['rows', 'uint']],
});

/** Whether the rows of a table are counted: those of read models, and those of the history store that nothing else vouches for. */
export type IsCounted = (table: Table) => boolean;

/** @param models all that are folded, with every frame or on demand */
export const countedAmong = (models: readonly ReadModel[]): IsCounted => {
  const names = new Set(countableOf(models).map(({ name }) => name));
  return ({ name }) => names.has(name);
};

export const countableOf = (models: readonly ReadModel[]): readonly Table[] =>
  [...COUNTED_TABLES, ...models.flatMap(({ tables }) => tables)].filter(
    (table) => historyColumn(table) !== -1,
  );

/** Where the history stands in a table's key; -1: nowhere. */
export const historyColumn = ({ key }: Table): number => key.findIndex(([name]) => name === 'history');

/** Buckets are counted in so many parts: with a count for each, a call would bring as many counts as rows. */
export const PARTS = 16;
export const BUCKETS = 256;

/** Whether rows of all histories are looked up by a key whose hash, in one byte, stands before it. */
export const isBucketed = ({ key }: Table): boolean => key[0]?.[0] === 'bucket' && key[0][1] === 'uint';

/** @param owner a history, or a part of the buckets of all histories */
export const rowsMissing = (table: string, owner: string | number, generation?: string): Error =>
  fail('E_ROWS_DAMAGED', `rows of ${ownerText(owner)} are missing in ${table}, or too many`, {
    table,
    ...(typeof owner === 'string' ? { history: owner } : { part: owner }),
    ...defined({ generation }),
  });

const ownerText = (owner: string | number): string =>
  typeof owner === 'string' ? owner : `part ${owner} of all histories`;
