import { attempt, fail } from '@stemma/errors';
import { defineTable } from '@stemma/row-store';
import {
  decodeKey,
  encodeBounds,
  hashBytes,
  keyScratch,
  localSource,
  refuseOpenRange,
  rowsDamaged,
  sameCursor,
  scanOf,
  seedOf,
  typedRows,
  unsealValue,
  writeKey,
  writeUint,
  type Generation,
  type GenerationView,
  type Key,
  type Row,
  type CellReader,
  type Table,
  type TableReader,
  type Value,
} from '@stemma/row-store';
import { nameKey } from './entries.ts';
import { damageIn } from './lmdb-damage.ts';
import type { Bytes, LmdbEnvironment } from './lmdb-environment.ts';
import { ownRecords, type OwnRecords } from './own-records.ts';
import { packedRows, unpackChecked, type PackedRows } from './packed-tree.ts';
import { writeRows, type Head } from './write-rows.ts';
import { ownersOf, uintBytes, type Owner } from './owners.ts';
import { bytesAt, entriesOn } from './tree-walks.ts';

/*
 * Keys of a table: [generation][owner's number][the key's other columns]; if the key is the owner alone:
 * [generation][owner]. The store's own tree has for each generation, after [01][generation]: 00 partition → cursor, 01
 * owner → number, 02 → next number.
 *
 * The checksum of a row is begun with the names of its table and its owner, and its key in the tree.
 */

/** `number` undefined: nothing was committed under this name yet; `register` assigns one, in a write transaction. */
export type Registration = { number(): number | undefined; register(): number };

export type LmdbGeneration = Generation & Required<Pick<Generation, 'readIfCurrent'>>;

export const lmdbGeneration = (
  environment: Omit<LmdbEnvironment, 'tableNames'>,
  name: string,
  tables: readonly Table[],
  registered: Registration,
): LmdbGeneration => {
  const own = ownRecords(environment.own, name);
  const known = new Set(tables.map((table) => table.name));
  const treeOf = (table: Table, create = false): Bytes | undefined => {
    if (!known.has(table.name)) throw fail('E_INTERNAL', `the generation ${name} has no table ${table.name}`);
    return environment.table(table.name, create);
  };
  let base = registered.number();
  let owners = base === undefined ? undefined : ownersOf(own, ownHead(base));
  const isOpen = (): boolean => {
    if (base !== undefined && registered.number() === base) return true;
    base = registered.number();
    owners = base === undefined ? undefined : ownersOf(own, ownHead(base));
    return base !== undefined;
  };

  /**
   * Writes the bytes before the key's own columns; returns where they end and the first column that is not among them.
   */
  const writeHead = (table: Table, key: Key, take: boolean): Head | undefined => {
    let owner: Owner | undefined;
    const owned = table.key.length > 1 && key.length > 0;
    if (owned) {
      const cell = ownerText(key[0] as string | number);
      owner = take ? owners?.assign(cell) : owners?.find(cell);
      if (owner === undefined) return undefined;
    }
    let at = writeUint(0, base ?? 0);
    if (owner !== undefined) at = writeUint(at, owner.number);
    return { at, column: owned ? 1 : 0, seed: seedFor(table, owner) };
  };

  const keyBytes = (
    table: Table,
    key: Key,
  ): { readonly bytes: Buffer; readonly seed: number } | undefined => {
    const head = writeHead(table, key, false);
    if (head === undefined) return undefined;
    const end = writeKey(head.at, table, key, head.column);
    return { bytes: keyScratch.subarray(0, end), seed: hashBytes(head.seed, keyScratch, 0, end) };
  };
  const unsealed = (table: Table, seed: number, key: Buffer, value: Buffer): Value =>
    unsealValue(table, value, hashBytes(seed, key), name);

  /** The tree of a table; undefined before the first commit, which makes all of them. */
  const treeToRead = (table: Table): Bytes | undefined => {
    const tree = treeOf(table);
    if (tree === undefined && base !== undefined) throw rowsDamaged(name, table.name);
    return base === undefined ? undefined : tree;
  };

  const lastPacked = new Map<
    Table,
    { readonly bytes: Buffer; readonly tree: Bytes; readonly seed: number; readonly rows: PackedRows }
  >();
  /** The packed rows of the owner that a key begins with; undefined if there are none. */
  const packedOf = (table: Table, key: Key, create = false): PackedRows | undefined => {
    const head = writeHead(table, key, create);
    const tree = create ? treeOf(table) : treeToRead(table);
    if (head === undefined || tree === undefined) return undefined;
    const known = lastPacked.get(table);
    // Many rows of one owner are usually read one after the other.
    if (known?.tree === tree && known.seed === head.seed && isHead(known.bytes, head.at)) return known.rows;
    const bytes = Buffer.from(keyScratch.subarray(0, head.at));
    const found = packedRows(tree, table, key.slice(0, head.column), { ...head, bytes }, name);
    lastPacked.set(table, { bytes, tree, seed: head.seed, rows: found });
    return found;
  };

  const rows: CellReader = {
    get(table, key) {
      if (table.packed === true) return packedOf(table, key)?.get(key);
      const at = keyBytes(table, key);
      if (at === undefined) return undefined;
      const tree = treeToRead(table);
      const sealed = tree && bytesAt(tree, at.bytes);
      return sealed === undefined ? undefined : unsealValue(table, sealed, at.seed, name);
    },
    range(table, range) {
      refuseOpenRange(table, range.prefix.length);
      if (table.packed === true) return packedOf(table, range.prefix)?.range(range) ?? [];
      const head = writeHead(table, range.prefix, false);
      const tree = treeToRead(table);
      if (head === undefined || tree === undefined) return [];
      const { start, end = BEHIND_ALL } = encodeBounds(table, range, head.at, head.column);
      const owner = head.column === 1 ? [range.prefix[0] as string | number] : [];
      const walk =
        range.reverse === true
          ? { start: end, end: start, reverse: true, exclusiveStart: true, inclusiveEnd: true }
          : { start, end };
      const limit = range.limit ?? Infinity;
      const list: Row[] = [];
      if (limit === 0) return list;
      for (const { key, value: sealed } of entriesOn(tree, walk)) {
        // Looked at first: the key may be what is damaged.
        const value = unsealed(table, head.seed, key, sealed);
        list.push({ key: [...owner, ...decodeKey(table, key, head.at, head.column)], value });
        if (list.length >= limit) break;
      }
      return list;
    },
  };
  const view = typedRows<CellReader & Omit<GenerationView, keyof CellReader> & TableReader>({
    get(table, key) {
      try {
        return rows.get(table, key);
      } catch (error) {
        throw damageIn(error, name, table.name);
      }
    },
    range(table, range) {
      try {
        return rows.range(table, range);
      } catch (error) {
        throw damageIn(error, name, table.name);
      }
    },
    cursor(partition) {
      const bytes = base === undefined ? undefined : own.get(cursorKey(base, partition));
      return bytes === undefined ? null : new Uint8Array(bytes);
    },
    partitions: () => (base === undefined ? [] : [...cursorsOf(own, base).keys()]),
    count(table, owner) {
      try {
        if (table.packed === true) return rows.range(table, { prefix: [owner] }).length;
        const head = writeHead(table, [owner], false);
        const tree = treeToRead(table);
        if (head === undefined || tree === undefined) return 0;
        const { start, end } = encodeBounds(table, { prefix: [owner] }, head.at, head.column);
        return tree.getKeysCount({ start, ...(end && { end }) });
      } catch (error) {
        throw damageIn(error, name, table.name);
      }
    },
    *entries(table) {
      const tree = treeToRead(table);
      if (base === undefined || tree === undefined) return;
      const start = uintBytes(base);
      const end = uintBytes(base + 1);
      const names = table.key.length > 1 ? owners?.all() : undefined;
      const uintOwner = table.key[0]?.[1] === 'uint';
      for (const { key, value: sealed } of tree.getRange({ start, end })) {
        if (names === undefined) {
          const value = unsealed(table, seedFor(table, undefined), key, sealed);
          yield { key: decodeKey(table, key, start.length), value };
        } else {
          const number = ownerNumber(key, start.length);
          const owner = number === undefined ? undefined : names.get(number);
          if (owner === undefined) throw rowsDamaged(name, table.name);
          const cell = uintOwner ? Number(owner.text) : owner.text;
          if (table.packed === true) {
            yield* unpackChecked(table, 1, [cell], { key, value: sealed }, seedFor(table, owner), name);
            continue;
          }
          const value = unsealed(table, seedFor(table, owner), key, sealed);
          const rest = decodeKey(table, key, start.length + uintBytes(number as number).length, 1);
          yield { key: [cell, ...rest], value };
        }
      }
    },
  });

  /** Reads the newest commit from now on. */
  const refresh = (): number => {
    environment.refresh();
    // Numbers are never reused: a generation that was dropped since looks empty.
    if (base === undefined) isOpen();
    return environment.opened();
  };

  const readNow = <T>(fn: (view: GenerationView) => T): T => {
    for (;;) {
      const opened = refresh();
      const result = attempt(() => fn(view));
      // Opening a tree in between ended the read state: once more, now that all trees are open.
      if (environment.opened() === opened) return result();
    }
  };
  const pointers = ownRecords(environment.own);
  const nameBytes = Buffer.from(name);
  const pointerKeys = new Map<string, Buffer>();
  const pointerKeyOf = (group: string): Buffer => {
    const known = pointerKeys.get(group) ?? nameKey('p', group);
    pointerKeys.set(group, known);
    return known;
  };

  return {
    name,
    tables,
    read: async (fn) => readNow(fn),
    readIfCurrent: async (group, fn) =>
      readNow((now) =>
        pointers.get(pointerKeyOf(group))?.equals(nameBytes) === true ? { value: fn(now) } : undefined,
      ),
    async scan(fn) {
      for (const table of tables) treeOf(table);
      refresh();
      return fn(scanOf(view));
    },
    source: () => localSource(view),
    async commit({ partition, expected, cursor, changes, encoded = [] }) {
      let committed = false;
      try {
        for (const table of tables) treeOf(table, true);
        environment.write(() => {
          isOpen();
          if (!sameCursor(view.cursor(partition), expected))
            throw fail(
              'E_CURSOR_MOVED',
              `partition ${partition} of ${name} was changed by another projector`,
            );
          if (base === undefined) {
            base = registered.register();
            owners = ownersOf(own, ownHead(base));
          }
          writeRows({ tables, treeOf, writeHead, packedOf }, changes, encoded);
          own.put(cursorKey(base, partition), Buffer.from(cursor));
        });
        committed = true;
      } catch (error) {
        throw damageIn(error, name, 'a table');
      } finally {
        owners?.endTransaction(committed);
        if (!committed) isOpen();
      }
    },
  };
};

/** No key begins so. */
const BEHIND_ALL = Buffer.of(0xff);

/** True if the bytes before the columns of a key that was just written are these. */
const isHead = (bytes: Buffer, at: number): boolean => {
  if (bytes.length !== at) return false;
  for (let i = 0; i < at; i++) if (bytes[i] !== keyScratch[i]) return false;
  return true;
};

const OWNER_NUMBER = defineTable({ name: 'owner number', about: '', key: [['number', 'uint']], value: [] });

/** The owner's number in a key; undefined if the key ends before. */
const ownerNumber = (key: Buffer, start: number): number | undefined => {
  const size = (key[start] ?? 0) - 0xef;
  return start + Math.max(size, 0) >= key.length
    ? undefined
    : (decodeKey(OWNER_NUMBER, key, start)[0] as number);
};

const seedFor = (table: Table, owner: { readonly hash: number } | undefined): number =>
  seedOf(table) ^ (owner?.hash ?? 0);

const ownerText = (owner: string | number): string => (typeof owner === 'number' ? String(owner) : owner);

/** The prefix of a generation's keys in the store's own tree. */
export const ownHead = (generation: number): Buffer =>
  Buffer.concat([Buffer.of(0x01), uintBytes(generation)]);

export const cursorKey = (generation: number, partition: number): Buffer => {
  const number = Buffer.allocUnsafe(4);
  number.writeUInt32BE(partition);
  return Buffer.concat([ownHead(generation), Buffer.of(0x00), number]);
};

/** The cursors of a generation by partition. */
export const cursorsOf = (own: OwnRecords, generation: number): Map<number, Uint8Array> => {
  const start = Buffer.concat([ownHead(generation), Buffer.of(0x00)]);
  const end = Buffer.concat([ownHead(generation), Buffer.of(0x01)]);
  const cursors = new Map<number, Uint8Array>();
  for (const { key, value } of own.range(start, end))
    cursors.set(key.readUInt32BE(start.length), new Uint8Array(value));
  return cursors;
};
