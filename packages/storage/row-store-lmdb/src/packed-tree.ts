import {
  appendRows,
  compareCells,
  compareKeys,
  decodeKey,
  encodeRange,
  findPacked,
  hashBytes,
  isSealed,
  keyScratch,
  lastKey,
  packRows,
  rowsDamaged,
  unpackRows,
  writeKey,
  type Key,
  type Range,
  type Row,
  type RowChange,
  type Table,
  type Value,
} from '@stemma/row-store';
import type { Bytes } from './lmdb-environment.ts';
import { bytesAt, keysOn, type TreeWalk } from './tree-walks.ts';

/*
 * Reading a row costs lmdb's library many times what decoding it does. So the rows of a packed table stand together in
 * values of up to a page (`packed-rows.ts`), each under the key of its first row: a row is in the last value whose key
 * is not after its own. Which rows stand together depends on how they were written; the rows do not.
 */

/** The rows that one owner has in a packed table. */
export type PackedRows = {
  get(key: Key): Value | undefined;
  range(range: Range): Row[];
  /** Applies changes, the last of each key. Inside of a write transaction. */
  write(changes: readonly RowChange[]): void;
};

/** The value is valid until the next read. */
type Stored = { readonly key: Buffer; readonly value: Uint8Array };
/** One of several changes in the order of their keys. */
type Sorted = Pick<RowChange, 'key' | 'value'>;

/**
 * @param owner the cells of keys that `head` stands for
 * @param head the bytes that all keys of the owner begin with, the first column that is not in them, and the hash that
 *   checksums begin with
 */
export const packedRows = (
  tree: Bytes,
  table: Table,
  owner: Key,
  head: { readonly bytes: Buffer; readonly column: number; readonly seed: number },
  generation: string,
): PackedRows => {
  const { column } = head;
  const bytesOf = (key: Key): Buffer => {
    keyScratch.set(head.bytes, 0);
    return Buffer.from(keyScratch.subarray(0, writeKey(head.bytes.length, table, key, column)));
  };
  const seedAt = (key: Buffer): number => hashBytes(head.seed, key);
  const checked = (stored: Stored): Uint8Array => checkedValue(table, stored, head.seed, generation);
  const rowsIn = (stored: Stored): Row[] =>
    unpackChecked(table, column, owner, stored, head.seed, generation);

  const storedAt = (key: Buffer): Stored => ({ key, value: bytesAt(tree, key) ?? NONE });

  /** The last value whose key is not after these bytes. */
  const valueAt = (at: Buffer): Stored | undefined => {
    const key = firstKeyOn(tree, { start: at, end: head.bytes, reverse: true, inclusiveEnd: true });
    return key && storedAt(key);
  };
  const end = Buffer.concat([head.bytes, Buffer.of(0xff)]);
  /** The key of the first value behind these bytes. */
  const keyAfter = (at: Buffer): Buffer | undefined =>
    firstKeyOn(tree, { start: at, end, exclusiveStart: true });

  const upwards = (range: Range, start: Buffer, behind: Buffer, limit: number): Row[] => {
    const list: Row[] = [];
    const first = firstKeyOn(tree, { start, end: head.bytes, reverse: true, inclusiveEnd: true }) ?? start;
    for (const key of keysOn(tree, { start: first, end: behind }))
      for (const row of rowsIn(storedAt(key))) {
        if (!isWithin(row, range, column)) continue;
        if (list.length >= limit) return list;
        list.push(row);
      }
    return list;
  };

  const downwards = (range: Range, start: Buffer, behind: Buffer, limit: number): Row[] => {
    const list: Row[] = [];
    const walk = { start: behind, end: head.bytes, reverse: true, exclusiveStart: true, inclusiveEnd: true };
    for (const at of keysOn(tree, walk)) {
      const rows = rowsIn(storedAt(at));
      for (let i = rows.length - 1; i >= 0; i--) {
        const row = rows[i] as Row;
        if (!isWithin(row, range, column)) continue;
        if (list.length >= limit) return list;
        list.push(row);
      }
      if (Buffer.compare(at, start) <= 0) break;
    }
    return list;
  };

  const put = (rows: readonly Row[]): void =>
    packRows(table, column, rows, (first, seal) => {
      const key = bytesOf(first.key);
      tree.putSync(key, seal(seedAt(key)));
    });

  /** Applies changes that all belong into one value: into this one, if there is one. */
  const change = (stored: Stored | undefined, changes: readonly Sorted[]): void => {
    const rows = stored === undefined ? [] : appended(stored, changes);
    if (rows === undefined) return;
    const merged = mergedRows(rows, changes, column);
    const [first] = merged;
    if (stored !== undefined && (first === undefined || !bytesOf(first.key).equals(stored.key)))
      tree.removeSync(stored.key);
    put(merged);
  };

  /** Writes changes behind all rows of a value; otherwise returns these rows. */
  const appended = (stored: Stored, changes: readonly Sorted[]): readonly Row[] | undefined => {
    const value = checked(stored);
    const behind = compareKeys(lastKey(table, column, value), (changes[0] as Sorted).key, column) < 0;
    if (behind && changes.every((each) => each.value !== null)) {
      const longer = appendRows(table, column, value, changes as readonly Row[], seedAt(stored.key));
      if (longer !== undefined) {
        tree.putSync(stored.key, longer);
        return undefined;
      }
    }
    return unpackRows(table, column, owner, value);
  };

  return {
    get(key) {
      const stored = valueAt(bytesOf(key));
      return stored && findPacked(table, column, checked(stored), key);
    },
    range(range) {
      const bounds = encodeRange(table, range, head.bytes, column);
      const { limit = Infinity, reverse = false } = range;
      return (reverse ? downwards : upwards)(range, bounds.start, bounds.end ?? end, limit);
    },
    write(changes) {
      // Cells are compared, whose order that of the bytes is: most keys never become bytes. The last of each key stays last.
      const sorted = changes.toSorted((a, b) => compareKeys(a.key, b.key, column));
      for (let i = 0; i < sorted.length;) {
        const at = bytesOf((sorted[i] as Sorted).key);
        const next = keyAfter(at);
        const end = next && [...owner, ...decodeKey(table, next, head.bytes.length, column)];
        const group: Sorted[] = [];
        for (; i < sorted.length; i++) {
          const each = sorted[i] as Sorted;
          if (end !== undefined && compareKeys(each.key, end, column) >= 0) break;
          const before = group.at(-1);
          if (before !== undefined && compareKeys(before.key, each.key, column) === 0) group.pop();
          group.push(each);
        }
        change(valueAt(at), group);
      }
    },
  };
};

const firstKeyOn = (tree: Bytes, walk: TreeWalk): Buffer | undefined => {
  for (const key of keysOn(tree, walk)) return key;
  return undefined;
};

/** @param column the first that rows of one owner can differ in */
const isWithin = ({ key }: Row, { prefix, from, to }: Range, column: number): boolean => {
  for (let i = column; i < prefix.length; i++)
    if (compareCells(key[i] as string, prefix[i] as string) !== 0) return false;
  const cell = key[prefix.length];
  return (
    (from === undefined || compareCells(cell as string, from) >= 0) &&
    (to === undefined || compareCells(cell as string, to) <= 0)
  );
};

/** Rows in the order of their keys, with changes in the same order applied. */
const mergedRows = (rows: readonly Row[], changes: readonly Sorted[], column: number): readonly Row[] => {
  const merged: Row[] = [];
  let i = 0;
  for (const { key, value } of changes) {
    let order = 1;
    for (; i < rows.length; i++) {
      const row = rows[i] as Row;
      order = compareKeys(row.key, key, column);
      if (order >= 0) break;
      merged.push(row);
    }
    if (i < rows.length && order === 0) i++;
    if (value !== null) merged.push({ key, value });
  }
  for (; i < rows.length; i++) merged.push(rows[i] as Row);
  return merged;
};

/** The rows of one value. @throws E_ROWS_DAMAGED if it is not what was written under its key */
export const unpackChecked = (
  table: Table,
  column: number,
  owner: Key,
  stored: Stored,
  seed: number,
  generation: string,
): Row[] => unpackRows(table, column, owner, checkedValue(table, stored, seed, generation));

/** What is no value of any row. */
const NONE = new Uint8Array(0);

const checkedValue = (table: Table, { key, value }: Stored, seed: number, generation: string): Uint8Array => {
  if (!isSealed(hashBytes(seed, key), value)) throw rowsDamaged(generation, table.name);
  return value;
};
