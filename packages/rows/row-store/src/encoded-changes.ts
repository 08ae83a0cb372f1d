import { fail } from '@stemma/errors';
import { CHECKSUM_BYTES } from './checksum.ts';
import { decodeKey, keyScratch, writeKey } from './key.ts';
import type { RowBatch, RowChange } from './store.ts';
import type { Key, KeyCell, Table } from './table.ts';
import { copyCells, copyShort, unpackValue, writeCells } from './value.ts';

/*
 * Changes of rows as bytes, which a thread that folds hands to the one that commits. Those of a table stand together, and
 * among them those of an owner, in their order: a store writes neighbours one after the other. Of each change:
 *
 *   table      one byte: its place in the list of tables; with 80 the owner is that of the change before
 *   owner      length (two bytes) and UTF-8; not there if the key is the owner alone, or with 80
 *   key        length (two bytes) and the bytes of its other columns (`key.ts`)
 *   value      length (four bytes; FFFFFFFF: the row is removed), the bytes (`value.ts`), and room for a checksum
 */

const SAME_OWNER = 0x80;
const REMOVED = 0xffff_ffff;
/** More tables than any generation has. */
const MOST_TABLES = 0x7f;
const HEAD_BYTES = 16;

/** A change as it lies in its bytes. The key has no owner, unless it is the owner alone. */
export type EncodedChange = {
  readonly table: Table;
  readonly owner: string | undefined;
  readonly keyStart: number;
  readonly keyEnd: number;
  /** −1: the row is removed. */
  readonly valueStart: number;
  /** Behind it is room for the checksum. */
  readonly valueEnd: number;
};

/** Kept from call to call, unless it had to grow beyond this: a new one each time would be garbage of megabytes. */
const KEPT_BYTES = 8 * 1024 * 1024;
let kept = Buffer.allocUnsafeSlow(64 * 1024);

/** The bytes of changes. @param tables those of the generation, in its order */
export const encodeChanges = (tables: readonly Table[], changes: readonly RowChange[]): Uint8Array => {
  if (tables.length > MOST_TABLES) throw fail('E_INTERNAL', 'a generation has too many tables');
  const places = new Map(tables.map((table, i) => [table, i]));
  let bytes = kept;
  let at = 0;
  const room = (size: number): void => {
    if (at + size <= bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, at + size));
    bytes.copy(larger, 0, 0, at);
    bytes = larger;
    if (larger.length <= KEPT_BYTES) kept = larger;
  };
  let [lastTable, lastOwner, place]: [Table | undefined, KeyCell | undefined, number] = [
    undefined,
    undefined,
    0,
  ];
  const write = ({ table, key, value }: RowChange): void => {
    if (table !== lastTable) place = placeOf(places, table);
    const owned = table.key.length > 1;
    const owner = owned ? key[0] : undefined;
    const same = owned && owner === lastOwner;
    lastTable = table;
    const keyBytes = writeKey(0, table, key, owned ? 1 : 0);
    room(HEAD_BYTES + keyBytes);
    bytes[at++] = same ? place | SAME_OWNER : place;
    if (owned && !same) {
      lastOwner = owner;
      const text = String(owner);
      room(HEAD_BYTES + keyBytes + text.length * 3);
      const size = bytes.write(text, at + 2);
      bytes.writeUInt16LE(size, at);
      at += 2 + size;
    }
    at = bytes.writeUInt16LE(keyBytes, at);
    copyShort(keyScratch, keyBytes, bytes, at);
    at += keyBytes;
    if (value === null) {
      at = bytes.writeUInt32LE(REMOVED, at);
      return;
    }
    const cellBytes = writeCells(table, value);
    room(HEAD_BYTES + cellBytes);
    at = bytes.writeUInt32LE(cellBytes, at);
    copyCells(bytes, at);
    at += cellBytes + CHECKSUM_BYTES;
  };
  for (const [table, ofTable] of Map.groupBy(changes, (change) => change.table))
    if (table.key.length === 1) ofTable.forEach(write);
    else for (const ofOwner of Map.groupBy(ofTable, ({ key }) => key[0]).values()) ofOwner.forEach(write);
  // A buffer of its own, which can be moved to another thread.
  return new Uint8Array(bytes.buffer.slice(0, at));
};

const placeOf = (places: ReadonlyMap<Table, number>, table: Table): number => {
  const place = places.get(table);
  if (place === undefined) throw fail('E_INTERNAL', `the generation has no table ${table.name}`);
  return place;
};

/** Every change in the order in which they were encoded; each is valid until the next one. */
export const eachEncoded = (
  tables: readonly Table[],
  encoded: Uint8Array,
  visit: (change: EncodedChange, bytes: Buffer) => void,
): void => {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length);
  let owner: string | undefined;
  for (let at = 0; at < bytes.length;) {
    const head = bytes[at++] as number;
    const table = tables[head & MOST_TABLES] as Table;
    const owned = table.key.length > 1;
    if (owned && (head & SAME_OWNER) === 0) {
      const size = bytes.readUInt16LE(at);
      owner = bytes.toString('utf8', at + 2, at + 2 + size);
      at += 2 + size;
    }
    const keyStart = at + 2;
    const keyEnd = keyStart + bytes.readUInt16LE(at);
    const size = bytes.readUInt32LE(keyEnd);
    const valueStart = size === REMOVED ? -1 : keyEnd + 4;
    const valueEnd = size === REMOVED ? keyEnd + 4 : valueStart + size;
    at = size === REMOVED ? valueEnd : valueEnd + CHECKSUM_BYTES;
    visit({ table, owner: owned ? owner : undefined, keyStart, keyEnd, valueStart, valueEnd }, bytes);
  }
};

/** An encoded change with its cells. */
export const decodeChange = (change: EncodedChange, bytes: Buffer): RowChange => {
  const { table, owner, keyStart, valueStart, valueEnd } = change;
  const key: Key =
    owner === undefined
      ? decodeKey(table, bytes, keyStart)
      : [ownerCell(table, owner), ...decodeKey(table, bytes, keyStart, 1)];
  const value = valueStart === -1 ? null : unpackValue(table, bytes.subarray(valueStart, valueEnd));
  return { table, key, value };
};

/** The owner as the first column of a key has it. */
export const ownerCell = (table: Table, owner: string): KeyCell =>
  table.key[0]?.[1] === 'uint' ? Number(owner) : owner;

/** All changes of a batch, in the order in which they must be applied. */
export const changesOf = (
  tables: readonly Table[],
  { changes, encoded = [] }: Pick<RowBatch, 'changes' | 'encoded'>,
): readonly RowChange[] => {
  if (encoded.length === 0) return changes;
  const all = [...changes];
  for (const each of encoded)
    eachEncoded(tables, each, (change, bytes) => all.push(decodeChange(change, bytes)));
  return all;
};
