import { compareBytes, compareCodePoints, openUnpacker, type Unpacker } from '@stemma/canonical';
import { CHECKSUM_BYTES } from './checksum.ts';
import type { Cell, Key, KeyCell, Row, Table, Value } from './table.ts';
import { beginCells, cutCells, putBytes, putCell, putUint16, sealedCells } from './value.ts';

/*
 * Rows that are neighbours, in one value. A row is a sequence of msgpack values:
 *
 *   kept                how many cells of its key are those of the row before
 *   the other cells of its key
 *   mask                a bit for each column of the value whose cell is not that of the row before
 *   the cells of these columns
 *
 * With `kept` 0 there is no row before: the columns that the mask leaves out are null. Behind the rows come the offsets
 * at which a reader may begin (two bytes each), their number (two bytes), and the checksum of the whole. The first
 * columns of a key, which all rows of an owner share, are not stored: `column` is the first that is.
 */

/** A reader of one row passes at most so many others. */
const INTERVAL = 16;

/** Bytes of a value with its checksum: what fits in a page of lmdb's own, 4 KiB with a head of 24 bytes. */
const MAX_BYTES = 4_072;
const DIRECTORY_BYTES = 2;
const OFFSET_BYTES = 2;

/**
 * Writes rows into as few values as they need. `emit` gets the first row of each and its bytes, which are valid until it
 * returns.
 *
 * @param rows in the order of their keys
 * @param seedOf the hash of the table and a key
 */
export const packRows = (
  table: Table,
  column: number,
  rows: readonly Row[],
  emit: (first: Row, seal: (seed: number) => Buffer) => void,
): void => {
  let first = 0;
  let offsets: number[] = [];
  let size = 0;
  const finish = (): void => {
    writeDirectory(offsets);
    emit(rows[first] as Row, sealedCells);
  };
  beginCells();
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as Row;
    const begins = (i - first) % INTERVAL === 0;
    const after = writeRow(table, column, row, begins ? undefined : rows[i - 1]);
    if (i > first && after + sizeAfterRows(offsets.length + (begins ? 1 : 0)) > MAX_BYTES) {
      cutCells(size);
      finish();
      first = i;
      offsets = [0];
      beginCells();
      size = writeRow(table, column, row, undefined);
      continue;
    }
    if (begins) offsets.push(size);
    size = after;
  }
  if (rows.length > 0) finish();
};

/**
 * The value with more rows behind its own, which are not read; undefined if it would be too large. The bytes
 * are valid until the next value is written.
 *
 * @param sealed a value that was read, whose checksum is right
 * @param rows in the order of their keys, which are after all in the value
 */
export const appendRows = (
  table: Table,
  column: number,
  sealed: Uint8Array,
  rows: readonly Row[],
  seed: number,
): Buffer | undefined => {
  const { offsets, end } = directoryOf(sealed);
  beginCells();
  let size = putBytes(sealed.subarray(0, end));
  for (const [i, row] of rows.entries()) {
    const begins = i % INTERVAL === 0;
    if (begins) offsets.push(size);
    size = writeRow(table, column, row, begins ? undefined : rows[i - 1]);
    if (size + sizeAfterRows(offsets.length) > MAX_BYTES) return undefined;
  }
  writeDirectory(offsets);
  return sealedCells(seed);
};

const sizeAfterRows = (offsets: number): number => offsets * OFFSET_BYTES + DIRECTORY_BYTES + CHECKSUM_BYTES;

const writeDirectory = (offsets: readonly number[]): void => {
  for (const offset of offsets) putUint16(offset);
  putUint16(offsets.length);
};

const writeRow = (table: Table, column: number, row: Row, previous: Row | undefined): number => {
  const { key, value } = row;
  let kept = column;
  if (previous !== undefined) while (kept < key.length && key[kept] === previous.key[kept]) kept++;
  putCell(kept - column);
  for (let i = kept; i < key.length; i++) putCell(key[i] as KeyCell);
  const before = kept === column ? undefined : previous?.value;
  let mask = 0;
  for (let i = 0; i < table.value.length; i++)
    if (isOther(value[i] ?? null, before?.[i] ?? null)) mask |= 1 << i;
  let size = putCell(mask);
  for (let i = 0; i < table.value.length; i++) if ((mask & (1 << i)) !== 0) size = putCell(value[i] ?? null);
  return size;
};

/** Lists and bytes are written in every row: readers must not share them. */
const isOther = (cell: Cell, before: Cell): boolean =>
  cell !== before || (typeof cell === 'object' && cell !== null);

type Directory = { readonly offsets: number[]; readonly end: number };

const directoryOf = (sealed: Uint8Array): Directory => {
  const uint16 = (at: number): number => (sealed[at] as number) | ((sealed[at + 1] as number) << 8);
  const at = sealed.length - CHECKSUM_BYTES - DIRECTORY_BYTES;
  const count = uint16(at);
  const end = at - count * OFFSET_BYTES;
  const offsets: number[] = [];
  for (let i = end; i < at; i += OFFSET_BYTES) offsets.push(uint16(i));
  return { offsets, end };
};

/** Reads rows one after the other. @param owner the cells of the key that are not stored */
const openRows = (table: Table, column: number, owner: Key, sealed: Uint8Array, start: number) => {
  const reader: Unpacker = openUnpacker(sealed, start);
  const columns = table.value;
  const wide = columns.map(([, type]) => type === 'wide');
  const empty: Cell[] = columns.map(() => null);
  let keyBefore: readonly KeyCell[] = [];
  let valueBefore: readonly Cell[] = empty;
  return {
    get at() {
      return reader.at;
    },
    next(): Row {
      const kept = reader.next() as number;
      const key = (kept === 0 ? owner : keyBefore).slice();
      for (let i = column + kept; i < table.key.length; i++) key[i] = reader.next() as KeyCell;
      const value = (kept === 0 ? empty : valueBefore).slice();
      for (let mask = reader.next() as number, i = 0; mask !== 0; mask >>>= 1, i++) {
        if ((mask & 1) === 0) continue;
        const cell = reader.next() as Cell;
        value[i] = wide[i] === true && typeof cell === 'number' ? BigInt(cell) : cell;
      }
      keyBefore = key;
      valueBefore = value;
      return { key, value };
    },
  };
};

/** All rows of a value, in order. @param owner the cells of the key that are not stored */
export const unpackRows = (table: Table, column: number, owner: Key, sealed: Uint8Array): Row[] => {
  const { end } = directoryOf(sealed);
  const reader = openRows(table, column, owner, sealed, 0);
  const rows: Row[] = [];
  while (reader.at < end) rows.push(reader.next());
  return rows;
};

/** One row of a value: of few others the keys are read, and of none the cells. */
export const findPacked = (table: Table, column: number, sealed: Uint8Array, key: Key): Value | undefined => {
  const { offsets, end } = directoryOf(sealed);
  let [low, high] = [0, offsets.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (compareKeyAt(table, column, sealed, offsets[middle] as number, key) <= 0) low = middle;
    else high = middle - 1;
  }
  const reader = openUnpacker(sealed, offsets[low] as number);
  const cells: KeyCell[] = key.slice();
  /** Where the cell of each column was written last; -1: it is null. */
  const places = table.value.map(() => -1);
  while (reader.at < end) {
    const kept = reader.next() as number;
    if (kept === 0) places.fill(-1);
    for (let i = column + kept; i < table.key.length; i++) cells[i] = reader.next() as KeyCell;
    for (let mask = reader.next() as number, i = 0; mask !== 0; mask >>>= 1, i++) {
      if ((mask & 1) === 0) continue;
      places[i] = reader.at;
      reader.pass();
    }
    const order = compareKeys(cells, key, column);
    if (order === 0) return cellsAt(table, reader, places);
    if (order > 0) return undefined;
  }
  return undefined;
};

const cellsAt = (table: Table, reader: Unpacker, places: readonly number[]): Value =>
  places.map((place, i) => {
    if (place === -1) return null;
    reader.at = place;
    const cell = reader.next() as Cell;
    return (table.value[i] as readonly [string, string])[1] === 'wide' && typeof cell === 'number'
      ? BigInt(cell)
      : cell;
  });

/** The key of the last row of a value, without the cells that are not stored. */
export const lastKey = (table: Table, column: number, sealed: Uint8Array): Key => {
  const { offsets, end } = directoryOf(sealed);
  const reader = openRows(table, column, [], sealed, offsets.at(-1) ?? 0);
  let row = reader.next();
  while (reader.at < end) row = reader.next();
  return row.key;
};

const compareKeyAt = (table: Table, column: number, sealed: Uint8Array, at: number, key: Key): number => {
  const reader = openUnpacker(sealed, at);
  reader.next();
  for (let i = column; i < table.key.length; i++) {
    const order = compareCells(reader.next() as KeyCell, key[i] as KeyCell);
    if (order !== 0) return order;
  }
  return 0;
};

/** The same of keys, from a column on. */
export const compareKeys = (a: Key, b: Key, column: number): number => {
  for (let i = column; i < b.length; i++) {
    const order = compareCells(a[i] as KeyCell, b[i] as KeyCell);
    if (order !== 0) return order;
  }
  return 0;
};

/** The order that the bytes of keys have. */
export const compareCells = (a: KeyCell, b: KeyCell): number => {
  if (a === b) return 0;
  if (typeof a === 'number') return a - (b as number);
  return typeof a === 'string' ? compareCodePoints(a, b as string) : compareBytes(a, b as Uint8Array);
};
