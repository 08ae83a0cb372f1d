import { lowerBound } from '@stemma/canonical';
import { boundText, type Bound } from './key-range.ts';
import { keyText } from './key.ts';
import type { RowChange } from './store.ts';
import type { Key, Row, Table, Value } from './table.ts';

/** All rows of a table between two bounds, in order. */
type Interval = {
  readonly low: Bound;
  readonly high: Bound;
  readonly start: string;
  readonly end: string;
  readonly keys: string[];
  readonly rows: Row[];
};

/** The known rows of a range from its start, and the bound after which nothing is known (undefined: everything is). */
export type CachedRange = { readonly rows: readonly Row[]; readonly missing: Bound | undefined };

/** Fetched rows, together with the fact that no other rows are between them. */
export type IntervalCache = {
  /** Null if it is unknown whether the row exists. */
  get(table: Table, key: Key): Row | undefined | null;
  find(table: Table, keyRange: { low: Bound; high: Bound; reverse: boolean; limit: number }): CachedRange;
  /** Adds all rows between two bounds, in ascending order of keys. */
  add(table: Table, low: Bound, high: Bound, rows: readonly Row[]): void;
  /** Applies a committed change if its key is in a known range. */
  change(change: RowChange): void;
  /** The bound nearer to `high` from which a fetch returns nothing that is known. */
  nextBelow(table: Table, high: Bound, low: Bound): Bound;
  nextAbove(table: Table, low: Bound, high: Bound): Bound;
  /** The number of rows. */
  readonly size: number;
};

export const intervalCache = (): IntervalCache => {
  const tables = new Map<string, Interval[]>();
  let size = 0;
  const intervalsOf = (table: Table): Interval[] => {
    let known = tables.get(table.name);
    if (known === undefined) tables.set(table.name, (known = []));
    return known;
  };
  /** The index of the last interval that begins at or before a text; −1: none does. */
  const lastFrom = (known: readonly Interval[], text: string): number =>
    lowerBound(0, known.length, (i) => (known[i] as Interval).start <= text) - 1;
  const containing = (table: Table, text: string): Interval | undefined => {
    const known = intervalsOf(table);
    const found = known[lastFrom(known, text)];
    return found !== undefined && text < found.end ? found : undefined;
  };
  const indexIn = ({ keys }: Interval, text: string): number =>
    lowerBound(0, keys.length, (i) => (keys[i] as string) < text);

  return {
    get(table, key) {
      const text = keyText(table, key);
      const known = containing(table, text);
      if (known === undefined) return null;
      const at = indexIn(known, text);
      return known.keys[at] === text ? known.rows[at] : undefined;
    },
    find(table, { low, high, reverse, limit }) {
      const [start, end] = [boundText(table, low), boundText(table, high)];
      if (start >= end || limit <= 0) return { rows: [], missing: undefined };
      return reverse ? downwards(start, end, high) : upwards(start, end, low);

      function upwards(from: string, to: string, bound: Bound): CachedRange {
        const known = containing(table, from);
        if (known === undefined) return { rows: [], missing: bound };
        const first = indexIn(known, from);
        const last = Math.min(first + limit, to < known.end ? indexIn(known, to) : known.keys.length);
        const enough = to <= known.end || last - first >= limit;
        return { rows: known.rows.slice(first, last), missing: enough ? undefined : known.high };
      }
      function downwards(to: string, from: string, bound: Bound): CachedRange {
        const all = intervalsOf(table);
        const known = all[lowerBound(0, all.length, (i) => (all[i] as Interval).start < from) - 1];
        if (known === undefined || known.end < from) return { rows: [], missing: bound };
        const last = from < known.end ? indexIn(known, from) : known.keys.length;
        const first = Math.max(last - limit, to > known.start ? indexIn(known, to) : 0);
        const enough = to >= known.start || last - first >= limit;
        return { rows: known.rows.slice(first, last).reverse(), missing: enough ? undefined : known.low };
      }
    },
    add(table, low, high, rows) {
      const [start, end] = [boundText(table, low), boundText(table, high)];
      if (start >= end) return;
      const known = intervalsOf(table);
      // Those that overlap or touch become one with it; in between, what was fetched last holds.
      const first = lowerBound(0, known.length, (i) => (known[i] as Interval).end < start);
      const endIndex = lowerBound(0, known.length, (i) => (known[i] as Interval).start <= end);
      const [left, right] = [known[first], known[endIndex - 1]];
      const over = first < endIndex;
      const before = over && left !== undefined ? indexIn(left, start) : 0;
      const after = over && right !== undefined ? indexIn(right, end) : 0;
      const merged: Interval = {
        ...(over && left !== undefined && left.start < start
          ? { low: left.low, start: left.start }
          : { low, start }),
        ...(over && right !== undefined && right.end > end
          ? { high: right.high, end: right.end }
          : { high, end }),
        keys: joined(
          over ? left?.keys.slice(0, before) : undefined,
          rows.map(({ key }) => keyText(table, key)),
          over ? right?.keys.slice(after) : undefined,
        ),
        rows: joined(
          over ? left?.rows.slice(0, before) : undefined,
          rows,
          over ? right?.rows.slice(after) : undefined,
        ),
      };
      size += merged.rows.length;
      for (let i = first; i < endIndex; i++) size -= (known[i] as Interval).rows.length;
      known.splice(first, endIndex - first, merged);
    },
    change({ table, key, value }) {
      const text = keyText(table, key);
      const known = containing(table, text);
      if (known === undefined) return;
      const at = indexIn(known, text);
      const there = known.keys[at] === text ? 1 : 0;
      size += (value === null ? 0 : 1) - there;
      if (value === null) {
        known.keys.splice(at, there);
        known.rows.splice(at, there);
      } else {
        known.keys.splice(at, there, text);
        known.rows.splice(at, there, { key: [...key], value: copiedValue(table, value) });
      }
    },
    nextBelow(table, high, low) {
      const known = intervalsOf(table);
      const text = boundText(table, high);
      const found = known[lowerBound(0, known.length, (i) => (known[i] as Interval).end <= text) - 1];
      return found !== undefined && found.end > boundText(table, low) ? found.high : low;
    },
    nextAbove(table, low, high) {
      const known = intervalsOf(table);
      const text = boundText(table, low);
      const found = known[lowerBound(0, known.length, (i) => (known[i] as Interval).start < text)];
      return found !== undefined && found.start < boundText(table, high) ? found.low : high;
    },
    get size() {
      return size;
    },
  };
};

const joined = <T>(left: readonly T[] = [], middle: readonly T[], right: readonly T[] = []): T[] =>
  left.concat(middle, right);

/** A value of the reader's own, as every store gives it: what it does to lists and bytes in it changes no row. */
export const copiedValue = (table: Table, value: Value): Value =>
  table.value.map(([, type], i) => {
    const cell = value[i] ?? null;
    return type === 'json' || type === 'bytes' ? copied(cell) : cell;
  });

const copied = <T>(cell: T): T => {
  if (typeof cell !== 'object' || cell === null) return cell;
  if (cell instanceof Uint8Array) return Uint8Array.from(cell) as T;
  if (Array.isArray(cell)) return cell.map(copied) as T;
  return Object.fromEntries(Object.entries(cell).map(([name, each]) => [name, copied(each as unknown)])) as T;
};
