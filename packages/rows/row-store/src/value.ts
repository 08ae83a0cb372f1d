import { pack, unpack, unpackFrom } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { CHECKSUM_BYTES, hashBytes, isSealed, rowsDamaged } from './checksum.ts';
import type { Cell, Table, Value } from './table.ts';

/*
 * A value is a msgpack list of its cells without the nulls at its end: columns that are usually null are last in a
 * table and cost nothing. Bytes are canonical msgpack, so rows are equal exactly when their bytes are. Written here by
 * hand for the usual shapes (1 µs instead of 4); `json` cells that are objects go through `pack`.
 */

let scratch = Buffer.allocUnsafe(65_536);
let end = 0;

/** The bytes of a value. The caller owns them. */
export const packValue = (table: Table, value: Value): Buffer => {
  const size = writeCells(table, value);
  // Writing may have taken another buffer.
  return Buffer.from(scratch.subarray(0, size));
};

/** Copies the bytes that {@link writeCells} wrote last. */
export const copyCells = (to: Uint8Array, at: number): void => copyShort(scratch, end, to, at);

/**
 * Copies the first bytes of a buffer. A loop is faster than a view and a call into the engine, as long as they are few.
 */
export const copyShort = (from: Uint8Array, length: number, to: Uint8Array, at: number): void => {
  if (length > MOST_SHORT) to.set(from.subarray(0, length), at);
  else for (let i = 0; i < length; i++) to[at + i] = from[i] as number;
};

const MOST_SHORT = 128;

/**
 * The same bytes with their checksum behind them, in the shared buffer: valid until the next value is written.
 *
 * @param seed the hash of the table and the key
 */
export const sealedValue = (table: Table, value: Value, seed: number): Buffer => {
  writeCells(table, value);
  return sealedCells(seed);
};

/** The checksum of a value whose bytes nobody needs. */
export const valueChecksum = (table: Table, value: Value, seed: number): number => {
  const size = writeCells(table, value);
  return hashBytes(seed, scratch, 0, size);
};

/** Begins bytes of cells, in the buffer that values are written in. */
export const beginCells = (): void => {
  end = 0;
};

/** Writes a cell; returns how many bytes there are now. */
export const putCell = (cell: Cell): number => {
  writeCell(cell);
  return end;
};

/** Writes bytes as they are; returns how many there are now. */
export const putBytes = (bytes: Uint8Array): number => {
  raw(bytes);
  return end;
};

/** Writes two bytes, the lower one first. */
export const putUint16 = (value: number): void => {
  room(2);
  end = scratch.writeUInt16LE(value, end);
};

/** Takes back all but the first `length` bytes. */
export const cutCells = (length: number): void => {
  end = length;
};

/** The bytes that were written, with their checksum behind them: valid until the next value is written. */
export const sealedCells = (seed: number): Buffer => {
  const checksum = hashBytes(seed, scratch, 0, end);
  room(CHECKSUM_BYTES);
  end = scratch.writeInt32LE(checksum, end);
  return scratch.subarray(0, end);
};

/** Writes the bytes of a value into the shared buffer, where they are until the next one is written; returns how many. */
export const writeCells = (table: Table, value: Value): number => {
  let count = value.length;
  if (count > table.value.length) throw fail('E_INTERNAL', `a row of ${table.name} has too many columns`);
  while (count > 0 && (value[count - 1] ?? null) === null) count--;
  end = 0;
  head(count, 0x90, 16, 0xdc);
  for (let i = 0; i < count; i++) writeCell(value[i] ?? null);
  return end;
};

/** The value, a cell for every column of the table. */
export const unpackValue = (table: Table, bytes: Uint8Array): Value => {
  return valueOf(table, unpack(bytes) as Cell[]);
};

/**
 * The value in bytes that {@link sealedValue} gave, which are looked at first.
 *
 * @param seed the hash of the table and the key that the bytes were found under
 * @throws E_ROWS_DAMAGED
 */
export const unsealValue = (table: Table, sealed: Uint8Array, seed: number, generation: string): Value => {
  if (!isSealed(seed, sealed)) throw rowsDamaged(generation, table.name);
  const { value, end: at } = unpackFrom(sealed, 0);
  if (at !== sealed.length - CHECKSUM_BYTES) throw rowsDamaged(generation, table.name);
  return valueOf(table, value as Cell[]);
};

const valueOf = (table: Table, cells: Cell[]): Value => {
  const columns = table.value;
  for (let i = cells.length; i < columns.length; i++) cells.push(null);
  for (let i = 0; i < columns.length; i++)
    if ((columns[i] as readonly [string, string])[1] === 'wide' && typeof cells[i] === 'number')
      cells[i] = BigInt(cells[i] as number);
  return cells;
};

const room = (bytes: number): void => {
  if (end + bytes <= scratch.length) return;
  const larger = Buffer.allocUnsafe(Math.max(scratch.length * 2, end + bytes));
  scratch.copy(larger, 0, 0, end);
  scratch = larger;
};

const head = (count: number, small: number, below: number, wide: number): void => {
  room(8);
  if (count < below) scratch[end++] = small + count;
  else {
    scratch[end] = count < 65_536 ? wide : wide + 1;
    end = count < 65_536 ? scratch.writeUInt16BE(count, end + 1) : scratch.writeUInt32BE(count, end + 1);
  }
};

const writeCell = (cell: Cell): void => {
  room(16);
  if (cell === null) scratch[end++] = 0xc0;
  else if (typeof cell === 'string') writeText(cell);
  else if (typeof cell === 'number') writeNumber(cell);
  else if (typeof cell === 'bigint') writeBigint(cell);
  else if (typeof cell === 'boolean') scratch[end++] = cell ? 0xc3 : 0xc2;
  else if (cell instanceof Uint8Array) writeBytes(cell);
  else if (Array.isArray(cell)) writeList(cell as readonly Cell[]);
  else raw(pack(cell));
};

const writeNumber = (value: number): void => {
  if (Number.isInteger(value) && value >= 0 && value < 0x1_0000_0000) writeUint(value);
  else raw(pack(value));
};

const writeBigint = (value: bigint): void => {
  if (value < 0x1_0000_0000n || value > 0xffff_ffff_ffff_ffffn) raw(pack(value));
  else {
    scratch[end] = 0xcf;
    end = scratch.writeBigUInt64BE(value, end + 1);
  }
};

const writeUint = (value: number): void => {
  if (value < 0x80) scratch[end++] = value;
  else if (value < 0x100) {
    scratch[end] = 0xcc;
    end = scratch.writeUInt8(value, end + 1);
  } else if (value < 0x1_0000) {
    scratch[end] = 0xcd;
    end = scratch.writeUInt16BE(value, end + 1);
  } else {
    scratch[end] = 0xce;
    end = scratch.writeUInt32BE(value, end + 1);
  }
};

const writeText = (text: string): void => {
  if (text.length >= 0x100 || !isAscii(text)) raw(pack(text));
  else {
    room(text.length + 2);
    if (text.length < 32) scratch[end++] = 0xa0 + text.length;
    else {
      scratch[end++] = 0xd9;
      scratch[end++] = text.length;
    }
    for (let i = 0; i < text.length; i++) scratch[end++] = text.charCodeAt(i);
  }
};

const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return false;
  return true;
};

const writeBytes = (bytes: Uint8Array): void => {
  if (bytes.length < 0x100) {
    scratch[end] = 0xc4;
    scratch[end + 1] = bytes.length;
    end += 2;
    raw(bytes);
  } else raw(pack(bytes));
};

const writeList = (list: readonly Cell[]): void => {
  head(list.length, 0x90, 16, 0xdc);
  for (const item of list) writeCell(item);
};

const raw = (bytes: Uint8Array): void => {
  room(bytes.length);
  copyShort(bytes, bytes.length, scratch, end);
  end += bytes.length;
};
