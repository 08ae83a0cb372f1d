import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { listOf } from '../fields.ts';
import type { ForeignReader } from '../reader.ts';
import { eachUnit } from '../whole-units.ts';
import { openCallRecords, type CallRecords, type CallOfRecord } from './records.ts';

/** A format whose files hold rows, each a request with its answer: on lines, in a list, or in a page of an API. */
export type RowFormat = Pick<ForeignReader, 'name' | 'mapping' | 'summary' | 'versions'> & {
  readonly isRow: (value: WideJsonObject) => boolean;
  readonly idOf: (row: WideJsonObject) => string;
  /** The fields in which a page has its rows. */
  readonly pages: readonly string[];
  readonly callOf: (id: string, row: WideJsonObject) => CallOfRecord | { readonly dropped: string };
};

export const rowReader = (format: RowFormat): ForeignReader => {
  const { isRow, pages, callOf, idOf, ...named } = format;
  const isOwn = (value: WideJson): boolean => isJsonObject(value) && isRow(value);
  const rowsOf = (value: WideJson): readonly WideJson[] | null => {
    if (Array.isArray(value)) return value as readonly WideJson[];
    if (!isJsonObject(value)) return null;
    const page = pages.find((name) => Array.isArray(value[name]) || isOwn(value[name] ?? null));
    if (page === undefined) return null;
    return Array.isArray(value[page]) ? listOf(value[page]) : [value[page] ?? null];
  };
  const take = (value: WideJson, where: string, records: CallRecords): void => {
    const rows = rowsOf(value);
    if (isJsonObject(value) && isRow(value)) records.add(idOf(value), value, where);
    else if (rows === null) throw fail('E_INPUT_SHAPE', `${where} is no row of ${named.name}`);
    else for (const [i, row] of rows.entries()) take(row, `${where}, item ${i}`, records);
  };
  return {
    ...named,
    recognises: (first) => isOwn(first) || isOwn(rowsOf(first)?.[0] ?? null),
    takesItems: isOwn,
    async *read(units) {
      const records = openCallRecords(callOf);
      yield* eachUnit(units, function* (unit) {
        take(unit.value, unit.where, records);
        yield* records.overflow();
      });
      yield* records.end();
    },
  };
};

/** What of a row is recorded nowhere: its fields that are not read, and further choices of its answer. */
export const droppedOf = (
  row: WideJsonObject,
  read: ReadonlySet<string>,
  others: number | undefined,
): readonly string[] => [
  ...Object.keys(row)
    .filter((name) => !read.has(name))
    .map((name) => `field ${name}`),
  ...Array.from({ length: others ?? 0 }, () => 'further choice of an answer'),
];
