import {
  decodeKey,
  defineTable,
  encodeBounds,
  hashBytes,
  refuseOpenRange,
  rowsDamaged,
  typedRows,
  unsealValue,
  type CellReader,
  type GenerationView,
  type Row,
  type Table,
  type TableReader,
  type Value,
} from '@stemma/row-store';
import { seedFor, type GenerationTrees } from './generation-trees.ts';
import { damageIn } from './lmdb-damage.ts';
import { cursorKey, cursorsOf } from './own-keys.ts';
import { uintBytes } from './owners.ts';
import { unpackChecked } from './packed-tree.ts';
import { bytesAt, entriesOn } from './tree-walks.ts';

/** What is read of a generation. */
export const viewIn = (trees: GenerationTrees) => {
  const rows = rowsIn(trees);
  return typedRows<CellReader & Omit<GenerationView, keyof CellReader> & TableReader>({
    get(table, key) {
      try {
        return rows.get(table, key);
      } catch (error) {
        throw damageIn(error, trees.name, table.name);
      }
    },
    range(table, range) {
      try {
        return rows.range(table, range);
      } catch (error) {
        throw damageIn(error, trees.name, table.name);
      }
    },
    cursor(partition) {
      const bytes = trees.base === undefined ? undefined : trees.own.get(cursorKey(trees.base, partition));
      return bytes === undefined ? null : new Uint8Array(bytes);
    },
    partitions: () => (trees.base === undefined ? [] : [...cursorsOf(trees.own, trees.base).keys()]),
    count(table, owner) {
      try {
        if (table.packed === true) return rows.range(table, { prefix: [owner] }).length;
        const head = trees.writeHead(table, [owner], false);
        const tree = trees.treeToRead(table);
        if (head === undefined || tree === undefined) return 0;
        const { start, end } = encodeBounds(table, { prefix: [owner] }, head.at, head.column);
        return tree.getKeysCount({ start, ...(end && { end }) });
      } catch (error) {
        throw damageIn(error, trees.name, table.name);
      }
    },
    entries: (table) => entriesOf(trees, table),
  });
};

const rowsIn = (trees: GenerationTrees): CellReader => ({
  get(table, key) {
    if (table.packed === true) return trees.packedOf(table, key)?.get(key);
    const at = trees.keyBytes(table, key);
    if (at === undefined) return undefined;
    const tree = trees.treeToRead(table);
    const sealed = tree && bytesAt(tree, at.bytes);
    return sealed === undefined ? undefined : unsealValue(table, sealed, at.seed, trees.name);
  },
  range(table, range) {
    refuseOpenRange(table, range.prefix.length);
    if (table.packed === true) return trees.packedOf(table, range.prefix)?.range(range) ?? [];
    const head = trees.writeHead(table, range.prefix, false);
    const tree = trees.treeToRead(table);
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
      const value = unsealed(trees, table, head.seed, key, sealed);
      list.push({ key: [...owner, ...decodeKey(table, key, head.at, head.column)], value });
      if (list.length >= limit) break;
    }
    return list;
  },
});

const unsealed = (trees: GenerationTrees, table: Table, seed: number, key: Buffer, value: Buffer): Value =>
  unsealValue(table, value, hashBytes(seed, key), trees.name);

function* entriesOf(trees: GenerationTrees, table: Table): Generator<Row> {
  const tree = trees.treeToRead(table);
  if (trees.base === undefined || tree === undefined) return;
  const start = uintBytes(trees.base);
  const end = uintBytes(trees.base + 1);
  const names = table.key.length > 1 ? trees.owners?.all() : undefined;
  const uintOwner = table.key[0]?.[1] === 'uint';
  for (const { key, value: sealed } of tree.getRange({ start, end })) {
    if (names === undefined) {
      const value = unsealed(trees, table, seedFor(table, undefined), key, sealed);
      yield { key: decodeKey(table, key, start.length), value };
    } else {
      const number = ownerNumber(key, start.length);
      const owner = number === undefined ? undefined : names.get(number);
      if (owner === undefined) throw rowsDamaged(trees.name, table.name);
      const cell = uintOwner ? Number(owner.text) : owner.text;
      if (table.packed === true) {
        yield* unpackChecked(table, 1, [cell], { key, value: sealed }, seedFor(table, owner), trees.name);
        continue;
      }
      const value = unsealed(trees, table, seedFor(table, owner), key, sealed);
      const rest = decodeKey(table, key, start.length + uintBytes(number as number).length, 1);
      yield { key: [cell, ...rest], value };
    }
  }
}

/** No key begins so. */
const BEHIND_ALL = Buffer.of(0xff);

const OWNER_NUMBER = defineTable({ name: 'owner number', about: '', key: [['number', 'uint']], value: [] });

/** The owner's number in a key; undefined if the key ends before. */
const ownerNumber = (key: Buffer, start: number): number | undefined => {
  const size = (key[start] ?? 0) - 0xef;
  return start + Math.max(size, 0) >= key.length
    ? undefined
    : (decodeKey(OWNER_NUMBER, key, start)[0] as number);
};
