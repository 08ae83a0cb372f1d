import { isStemmaError } from '@stemma/errors';
import type { Generation, RowChange, RowStore } from '../store.ts';
import { defineTable, type Row, type Table } from '../table.ts';

/** A bit of its value is changed; its key's last column becomes 9; the last byte of its value is cut off. */
export type Damage = 'bit' | 'moved' | 'truncated';

/** A store under test. `another` opens the same rows a second time, as another process would. */
export type RowStoreUnderTest = {
  open(): Promise<RowStore> | RowStore;
  another?(): Promise<RowStore> | RowStore;
  /** Does it to the row of `things` whose text is `h/1/a/1`, past the store. */
  damage(damage: Damage): Promise<void> | void;
  /** Removes what `open` made. */
  cleanUp(): Promise<void> | void;
};

export const THINGS = defineTable({
  name: 'things',
  about: '',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['node', 'text'],
    ['from', 'uint'],
  ],
  value: [
    ['text', 'text'],
    ['count', 'uint'],
    ['time', 'wide'],
    ['hash', 'bytes'],
    ['flag', 'bool'],
    ['data', 'json'],
  ],
});
/** The same table, whose rows a store may keep together. */
export const PACKED = defineTable({ ...THINGS, name: 'packed', packed: true });
export const OWNERS = defineTable({
  name: 'owners',
  about: '',
  key: [['history', 'text']],
  value: [['name', 'text']],
});
export const HASHES = defineTable({
  name: 'hashes',
  about: '',
  key: [
    ['history', 'text'],
    ['hash', 'bytes'],
  ],
  value: [['count', 'uint']],
});
export const TABLES = [THINGS, PACKED, OWNERS, HASHES];

export const cursor = (n: number): Uint8Array => Uint8Array.of(n);
export const put = (table: Table, key: Row['key'], ...value: Row['value']): RowChange => ({
  table,
  key,
  value,
});
export const thing = (history: string, branchId: number, node: string, from: number): RowChange =>
  put(THINGS, [history, branchId, node, from], `${history}/${branchId}/${node}/${from}`);
export const padded = (table: Table, value: Row['value']): Row['value'] =>
  table.value.map((_, i) => value[i] ?? null);
/** Damages bytes of a row as they are stored: the changed key and value. */
export const damaged = (
  damage: Damage,
  key: Uint8Array,
  value: Uint8Array,
): { readonly key: Buffer; readonly value: Buffer } => {
  const [newKey, newValue] = [Buffer.from(key), Buffer.from(value)];
  if (damage === 'bit') newValue[newValue.length >> 1]! ^= 4;
  else if (damage === 'moved') newKey[newKey.length - 1] = 9;
  return { key: newKey, value: damage === 'truncated' ? newValue.subarray(0, -1) : newValue };
};

/** How many things a generation has, as a scan finds them. */
export const countOf = (rows: Generation, table: Table = THINGS): Promise<number> =>
  rows.scan(async (scan) => {
    let count = 0;
    for await (const { key, value } of scan.entries(table))
      if (value.length === table.value.length && (await scan.get(table, key)) !== undefined) count++;
    return count;
  });

export const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? error.code : error),
  );

/** The rows that a range must return, from rows in any order. */
export const modelRange = (
  rows: readonly Row[],
  {
    prefix,
    from,
    to,
    reverse,
  }: {
    prefix: readonly (string | number)[];
    from?: string | number;
    to?: string | number;
    reverse?: boolean;
  },
): Row[] => {
  const compare = (a: string | number, b: string | number): number =>
    typeof a === 'number' && typeof b === 'number'
      ? a - b
      : Buffer.compare(Buffer.from(a as string), Buffer.from(b as string));
  const found = rows.filter(({ key }) => {
    const bound = key[prefix.length] as string | number;
    return (
      prefix.every((cell, i) => key[i] === cell) &&
      (from === undefined || compare(bound, from) >= 0) &&
      (to === undefined || compare(bound, to) <= 0)
    );
  });
  found.sort((a, b) => {
    for (const [i, cell] of a.key.entries()) {
      const order = compare(cell as string | number, b.key[i] as string | number);
      if (order !== 0) return reverse === true ? -order : order;
    }
    return 0;
  });
  return found;
};
