import { fail } from '@stemma/errors';
import {
  decodeChange,
  eachEncoded,
  hashBytes,
  keyScratch,
  MAX_KEY_BYTES,
  ownerCell,
  sealedValue,
  writeKey,
  type EncodedChange,
  type Key,
  type KeyCell,
  type RowChange,
  type Table,
} from '@stemma/row-store';
import type { Bytes } from './lmdb-environment.ts';
import type { PackedRows } from './packed-tree.ts';

/** Where the bytes before a key's own columns end, the first column that is not among them, and the row's seed. */
export type Head = { readonly at: number; readonly column: number; readonly seed: number };

/** What a generation gives to write its rows with. */
export type WrittenTo = {
  readonly tables: readonly Table[];
  treeOf(table: Table): Bytes | undefined;
  /** Writes the bytes before the columns of a key; undefined if there is no such owner, and `take` is false. */
  writeHead(table: Table, key: Key, take: boolean): Head | undefined;
  packedOf(table: Table, owner: Key, create: boolean): PackedRows | undefined;
};

/** Writes all changes in their order, the encoded ones last. In a write transaction. */
export const writeRows = (
  to: WrittenTo,
  changes: readonly RowChange[],
  encoded: readonly Uint8Array[],
): void => {
  const writer = openWriter();
  writeChanges(to, changes, writer);
  for (const each of encoded) writeEncoded(to, each, writer);
};

/** Changes of packed tables by table and owner: those of one owner are written together. */
type ByOwner = Map<Table, Map<KeyCell, RowChange[]>>;

const writeChanges = (to: WrittenTo, changes: readonly RowChange[], writer: Writer): void => {
  const packed: ByOwner = new Map();
  let last: Table | undefined;
  for (const change of changes) {
    const { table, key, value } = change;
    if (table.packed === true) {
      addByOwner(packed, change);
      continue;
    }
    if (table !== last) writer.into(to.treeOf(table));
    last = table;
    const head = to.writeHead(table, key, value !== null);
    if (head === undefined) continue;
    const end = writeKey(head.at, table, key, head.column);
    const at = keyScratch.subarray(0, end);
    if (value === null) writer.remove(at);
    else writer.put(at, sealedValue(table, value, hashBytes(head.seed, keyScratch, 0, end)));
  }
  for (const [table, byOwner] of packed)
    for (const [owner, list] of byOwner) to.packedOf(table, [owner], true)?.write(list);
};

/** Keys and values are written as they are, behind the owner's number and with the checksum. */
const writeEncoded = (to: WrittenTo, encoded: Uint8Array, writer: Writer): void => {
  let last: EncodedChange | undefined;
  let head: Head | undefined;
  /** Those of one owner, which stand together. */
  let packed: RowChange[] = [];
  const writePacked = (): void => {
    const [first] = packed;
    if (first !== undefined) to.packedOf(first.table, first.key.slice(0, 1), true)?.write(packed);
    packed = [];
  };
  eachEncoded(to.tables, encoded, (change, bytes) => {
    const { table, owner, keyStart, keyEnd, valueStart, valueEnd } = change;
    const isOther = table !== last?.table || owner !== last.owner;
    if (isOther) writePacked();
    if (table !== last?.table) writer.into(to.treeOf(table));
    last = change;
    if (table.packed === true) {
      packed.push(decodeChange(change, bytes));
      return;
    }
    // Whoever is removed first may have no number yet.
    if (isOther || head === undefined)
      head = to.writeHead(table, owner === undefined ? [] : [ownerCell(table, owner)], valueStart !== -1);
    if (head === undefined) return;
    const end = head.at + keyEnd - keyStart;
    if (end > MAX_KEY_BYTES)
      throw fail('E_KEY_TOO_LONG', `a key of ${table.name} is longer than ${MAX_KEY_BYTES} bytes`);
    for (let from = keyStart, at = head.at; from < keyEnd; from++) keyScratch[at++] = bytes[from] as number;
    const at = keyScratch.subarray(0, end);
    if (valueStart === -1) {
      writer.remove(at);
      return;
    }
    const seed = hashBytes(head.seed, keyScratch, 0, end);
    const sealedEnd = bytes.writeInt32LE(hashBytes(seed, bytes, valueStart, valueEnd), valueEnd);
    writer.put(at, bytes.subarray(valueStart, sealedEnd));
  });
  writePacked();
};

/** Writes rows into their trees. */
type Writer = {
  /** The rows that follow are written into this tree. */
  into(tree: Bytes | undefined): void;
  put(key: Buffer, value: Buffer): void;
  remove(key: Buffer): void;
};

const AT_END = { append: true };

/** What lmdb's types do not say: false if the key does not come behind all others. */
type Appending = { putSync(key: Buffer, value: Buffer, options: typeof AT_END): boolean };

/**
 * Ten rows of 400 bytes fill a page. When the eleventh comes at the end of the tree, LMDB by itself takes the tenth along to the next
 * page; told that the key comes behind all others, it does not. So it is told as long as that is true: until the first row of the batch
 * that belongs elsewhere in the tree.
 */
const openWriter = (): Writer => {
  const inOrder = new Map<Bytes, boolean>();
  let tree: Bytes | undefined;
  let atEnd = false;
  const append = (key: Buffer, value: Buffer): boolean =>
    (tree as unknown as Appending).putSync(key, value, AT_END);
  return {
    into(next) {
      if (tree !== undefined) inOrder.set(tree, atEnd);
      tree = next;
      atEnd = tree !== undefined && (inOrder.get(tree) ?? true);
    },
    put(key, value) {
      if (atEnd) atEnd = append(key, value);
      if (!atEnd) tree?.putSync(key, value);
    },
    remove(key) {
      tree?.removeSync(key);
    },
  };
};

/** Adds a change to those of its table and its owner. */
const addByOwner = (packed: ByOwner, change: RowChange): void => {
  const owner = change.key[0] as KeyCell;
  let byOwner = packed.get(change.table);
  if (byOwner === undefined) packed.set(change.table, (byOwner = new Map<KeyCell, RowChange[]>()));
  const list = byOwner.get(owner);
  if (list === undefined) byOwner.set(owner, [change]);
  else list.push(change);
};
