import { fetching, missing as signal, missingKind, resume } from '@stemma/suspend';
import { copiedValue, type IntervalCache } from './interval-cache.ts';
import {
  boundsOfOwner,
  boundsOfPrefix,
  boundsOfRange,
  boundText,
  type Bound,
  type FetchedRows,
  type KeyRange,
} from './key-range.ts';
import { keyText } from './key.ts';
import { refuseOpenRange } from './memory-row-store.ts';
import type { RowSource } from './store.ts';
import { typedRows, type CellReader, type Key, type Row, type Table } from './table.ts';

/** Fetches several ranges in one request. */
export type FetchRows = (keyRanges: readonly KeyRange[]) => Promise<readonly FetchedRows[]>;

/*
 * A read of an unknown row throws `Missing`; `using` fetches the row and calls the function again. A function that
 * reads many rows one by one would run again for each: so more and more rows are fetched around each missing row, twice
 * as many with each miss of the same owner in the same table.
 */

const FIRST_AHEAD = 8;
const MOST_AHEAD = 4_096;
const BYTES_AHEAD = 2 * 1024 * 1024;
/**
 * A function that has caused this many rows to be fetched ahead reads without a pattern: then few are fetched ahead.
 */
const ROWS_AHEAD = 200_000;

/** A missing read, and the ranges to fetch for it and around it. */
type Missed = { readonly read: string; readonly keyRanges: readonly KeyRange[] };

/** Reads known rows from the cache, and the others by fetching them. */
export const remoteRows = (known: IntervalCache, fetch: FetchRows): RowSource => {
  const ahead = new Map<string, number>();
  const rowBytes = new Map<string, number>();
  // A kind of its own: if a read of one source runs inside that of another, each source fetches its own rows.
  const kind = missingKind<Missed>('rows', ({ read }) => read);
  let missed: Missed[] = [];
  let rowsFetchedAhead = 0;

  /** How many rows to fetch around a miss in this table of this owner. */
  const nextAhead = (table: Table, cells: Key): number => {
    const owner = table.key.length > 1 ? keyText(table, cells.slice(0, 1)) : '';
    const name = `${table.name} ${owner}`;
    const now = Math.min((ahead.get(name) ?? FIRST_AHEAD / 2) * 2, MOST_AHEAD);
    ahead.set(name, now);
    const fitting = Math.max(4, Math.floor(BYTES_AHEAD / (rowBytes.get(table.name) ?? 256)));
    const count = Math.min(now, fitting, rowsFetchedAhead > ROWS_AHEAD ? 64 : Infinity);
    rowsFetchedAhead += count;
    return count;
  };

  /** Requests the rows between two bounds, at least `limit` of them, and some around them. */
  const requestRows = (
    table: Table,
    low: Bound,
    high: Bound,
    { reverse, limit }: { reverse: boolean; limit?: number },
  ): never => {
    const owner = boundsOfOwner(table, (reverse ? high : low).cells);
    const count = nextAhead(table, (reverse ? high : low).cells);
    const up = (from: Bound, to: Bound, many?: number): KeyRange => ({
      table,
      low: from,
      high: known.nextAbove(table, from, to),
      reverse: false,
      ...(many === undefined ? {} : { limit: many }),
    });
    const down = (from: Bound, to: Bound, many?: number): KeyRange => ({
      table,
      low: known.nextBelow(table, from, to),
      high: from,
      reverse: true,
      ...(many === undefined ? {} : { limit: many }),
    });
    const enough = limit === undefined ? undefined : Math.max(limit, count);
    const keyRanges = reverse
      ? [
          ...(enough === undefined
            ? [down(high, low), down(low, owner.low, count)]
            : [down(high, owner.low, enough)]),
          up(high, owner.high, count),
        ]
      : [
          ...(enough === undefined
            ? [up(low, high), up(high, owner.high, count)]
            : [up(low, owner.high, enough)]),
          down(low, owner.low, count),
        ];
    const read = JSON.stringify([table.name, boundText(table, low), boundText(table, high), reverse, limit]);
    const miss = { read, keyRanges };
    missed.push(miss);
    throw signal(kind, [miss]);
  };

  const rowsFetcher = fetching(kind, async (needs) => {
    const keyRanges = needs
      .flatMap((each) => each.keyRanges)
      .filter(({ table, low, high }) => boundText(table, low) < boundText(table, high));
    for (const [i, { rows, bytes }] of (await fetch(keyRanges)).entries()) {
      const { table, low, high, reverse, limit } = keyRanges[i] as KeyRange;
      if (rows.length > 0) rowBytes.set(table.name, Math.max(1, bytes / rows.length));
      const last = rows.at(-1);
      // If the limit was reached there may be more rows: then only the range up to the last row is known.
      const whole = limit === undefined || rows.length < limit || last === undefined;
      if (!reverse) known.add(table, low, whole ? high : boundsOfPrefix(last.key).high, rows);
      else known.add(table, whole ? low : boundsOfPrefix(last.key).low, high, [...rows].reverse());
    }
  });

  /** The result of `fn` if no row was missing; else throws all misses, even if `fn` caught them. */
  const unhidden = async <T>(fn: () => T | Promise<T>): Promise<T> => {
    missed = [];
    try {
      const result = await fn();
      if (missed.length === 0) return result;
    } catch (error) {
      if (missed.length === 0) throw error;
    }
    throw signal(kind, missed);
  };

  return typedRows<CellReader & Pick<RowSource, 'using'>>({
    get(table, key) {
      const row = known.get(table, key);
      if (row === undefined) return undefined;
      if (row !== null) return copiedValue(table, row.value);
      const { low, high } = boundsOfPrefix(key);
      return requestRows(table, low, high, { reverse: false, limit: 1 });
    },
    range(table, range) {
      refuseOpenRange(table, range.prefix.length);
      const { low, high } = boundsOfRange(range);
      const { reverse = false, limit = Infinity } = range;
      const { rows, missing } = known.find(table, { low, high, reverse, limit });
      if (missing !== undefined) {
        const rest = limit === Infinity ? { reverse } : { reverse, limit: limit - rows.length };
        return reverse ? requestRows(table, low, missing, rest) : requestRows(table, missing, high, rest);
      }
      return rows.map((row): Row => ({ key: row.key, value: copiedValue(table, row.value) }));
    },
    using: (fn) => resume(() => unhidden(fn), rowsFetcher),
  });
};
