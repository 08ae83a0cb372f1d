import { fail } from '@stemma/errors';
import type { Key, KeyCell, Range, Table } from './table.ts';

/** Keys stay below lmdb's limit with pages of 4 KiB (1,978 bytes); PostgreSQL's btree accepts 2,704. */
export const MAX_KEY_BYTES = 1_977;

/*
 * Order of the bytes = order of the keys, column by column, and the bytes of a prefix are a prefix of the bytes:
 *
 *   text          the UTF-8 bytes with 00 written as 00 FF, then 00
 *   bytes         01, then the same (texts never begin with FF, bytes might)
 *   uint          0…239: one byte; else EF + n, then its n bytes, big-endian
 *
 * No column begins with FF, so the 00 that ends a text is smaller than the 00 FF inside one, and all that begins with
 * some columns lies before their bytes and FF. UTF-8 has the order of
 * code points. We do not use lmdb's own "ordered-binary" keys: they corrupt texts of 64 and more characters that hold
 * U+0000…U+0004 inside a list.
 */

const SMALL = 0xf0;
const BYTES = 0x01;
/** `latin1Slice` returns the same as `toString('latin1')`, faster; Node's types leave it out. */
const scratch = Buffer.allocUnsafe(8_192) as Buffer & { latin1Slice(start: number, end: number): string };

/** Writes a cell into the shared buffer; returns where it ends. One key at a time, never across an await. */
const writeCell = (at: number, type: 'text' | 'uint' | 'bytes', cell: KeyCell, table: Table): number => {
  switch (type) {
    case 'uint':
      if (typeof cell !== 'number' || !Number.isSafeInteger(cell) || cell < 0)
        throw badCell(table, type, cell);
      return writeUint(at, cell);
    case 'text':
      if (typeof cell !== 'string') throw badCell(table, type, cell);
      return writeText(at, cell, table);
    case 'bytes':
      if (!(cell instanceof Uint8Array)) throw badCell(table, type, cell);
      if (cell.length > MAX_KEY_BYTES) throw tooLong(table);
      scratch[at] = BYTES;
      return writeEscaped(at + 1, cell);
  }
};

export const writeUint = (at: number, value: number): number => {
  if (value < SMALL) {
    scratch[at] = value;
    return at + 1;
  }
  let size = 1;
  for (let bound = 256; value >= bound; bound *= 256) size++;
  scratch[at] = 0xef + size;
  let rest = value;
  for (let i = at + size; i > at; i--) {
    scratch[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return at + size + 1;
};

const writeText = (at: number, text: string, table: Table): number => {
  if (text.length > MAX_KEY_BYTES) throw tooLong(table);
  let to = at;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return writeWideText(at, text, table);
    scratch[to++] = unit;
    if (unit === 0) scratch[to++] = 0xff;
  }
  scratch[to] = 0;
  return to + 1;
};

const writeWideText = (at: number, text: string, table: Table): number => {
  if (!text.isWellFormed())
    throw fail('E_INPUT_SURROGATE', `a key of ${table.name} holds an unpaired surrogate`);
  return writeEscaped(at, Buffer.from(text, 'utf8'));
};

const writeEscaped = (at: number, bytes: Uint8Array): number => {
  let to = at;
  for (let i = 0; i < bytes.length && to < scratch.length - 4; i++) {
    const byte = bytes[i] as number;
    scratch[to++] = byte;
    if (byte === 0) scratch[to++] = 0xff;
  }
  scratch[to] = 0;
  return to + 1;
};

/**
 * Writes the first cells of a key from column `column` on, after `start` bytes that the caller has put into {@link
 * keyScratch}. Returns where the key ends.
 *
 * @throws E_KEY_TOO_LONG
 */
export const writeKey = (start: number, table: Table, cells: Key, column = 0): number => {
  let at = start;
  for (let i = column; i < cells.length; i++) {
    const type = table.key[i];
    if (type === undefined) throw fail('E_INTERNAL', `a key of ${table.name} has too many columns`);
    at = writeCell(at, type[1], cells[i] as KeyCell, table);
    if (at > MAX_KEY_BYTES) throw tooLong(table);
  }
  return at;
};

/** The buffer of {@link writeKey}: valid until the next call. */
export const keyScratch = scratch;

/** The bytes of a whole key or of its first columns. */
export const encodeKey = (table: Table, key: Key): Buffer =>
  Buffer.from(scratch.subarray(0, writeKey(0, table, key)));

/** The same bytes as a text of one character per byte, which sorts the same: for maps. */
export const keyText = (table: Table, key: Key): string => scratch.latin1Slice(0, writeKey(0, table, key));

/** The smallest key of a range, and the smallest key after it (undefined: there is no upper bound). */
export type EncodedBounds = { readonly start: Buffer; readonly end: Buffer | undefined };

/** The bounds of a range after `head`, the bytes before column `column`. */
export const encodeRange = (
  table: Table,
  range: Range,
  head: Uint8Array = EMPTY,
  column = 0,
): EncodedBounds => {
  scratch.set(head, 0);
  return encodeBounds(table, range, head.length, column);
};

/** The same after `head` bytes that the caller has put into {@link keyScratch}. */
export const encodeBounds = (table: Table, range: Range, head: number, column: number): EncodedBounds => {
  const prefix = writeKey(head, table, range.prefix, column);
  const bound = (cell: KeyCell | undefined): number =>
    cell === undefined
      ? prefix
      : writeCell(prefix, (table.key[range.prefix.length] ?? noColumn(table))[1], cell, table);
  const start = Buffer.from(scratch.subarray(0, bound(range.from)));
  const last = bound(range.to);
  if (last === 0) return { start, end: undefined };
  scratch[last] = AFTER;
  return { start, end: Buffer.from(scratch.subarray(0, last + 1)) };
};

const EMPTY = new Uint8Array(0);
const AFTER = 0xff;

/** The cells from column `column` on of a key whose bytes for them begin at `start`. */
export const decodeKey = (table: Table, bytes: Buffer, start = 0, column = 0): KeyCell[] => {
  const cells: KeyCell[] = [];
  let at = start;
  for (let i = column; i < table.key.length; i++) {
    const type = (table.key[i] as readonly [string, string])[1];
    if (type === 'uint') {
      const head = bytes[at++] as number;
      if (head < SMALL) cells.push(head);
      else {
        const size = head - 0xef;
        cells.push(
          bytes.readUIntBE(at, Math.min(size, 6)) * (size > 6 ? 256 : 1) +
            (size > 6 ? (bytes[at + 6] as number) : 0),
        );
        at += size;
      }
    } else {
      const [raw, end] = readEscaped(bytes, type === 'bytes' ? at + 1 : at);
      cells.push(type === 'text' ? textOf(raw) : Uint8Array.from(raw));
      at = end;
    }
  }
  return cells;
};

const readEscaped = (bytes: Buffer, start: number): [Buffer, number] => {
  let end = bytes.indexOf(0, start);
  if (bytes[end + 1] !== 0xff) return [bytes.subarray(start, end), end + 1];
  const raw: number[] = [];
  for (end = start; bytes[end] !== 0 || bytes[end + 1] === 0xff; end++) {
    raw.push(bytes[end] as number);
    if (bytes[end] === 0) end++;
  }
  return [Buffer.from(raw), end + 1];
};

const textOf = (raw: Buffer): string => {
  for (let i = 0; i < raw.length; i++) if ((raw[i] as number) >= 0x80) return raw.toString('utf8');
  return raw.toString('latin1');
};

const noColumn = (table: Table): never => {
  throw fail('E_INTERNAL', `a range of ${table.name} bounds a column that the key does not have`);
};

const badCell = (table: Table, type: string, cell: KeyCell): Error =>
  fail(
    'E_INTERNAL',
    `a key of ${table.name} needs a ${type}, not ${typeof cell} ${String(cell).slice(0, 40)}`,
  );

const tooLong = (table: Table): Error =>
  fail('E_KEY_TOO_LONG', `a key of ${table.name} is longer than ${MAX_KEY_BYTES} bytes`);
