import { fail } from '@stemma/errors';
import { copiedValue, type KnownRows } from './far-known.ts';
import {
  edgesOf,
  edgesOfOwner,
  edgesOfRange,
  edgeText,
  type Edge,
  type Fetched,
  type Stretch,
} from './far-stretch.ts';
import { keyText } from './key.ts';
import { refuseOpenRange } from './memory-row-store.ts';
import { RowsNeeded } from './rows-needed.ts';
import type { RowSource } from './store.ts';
import type { Key, Row, Table } from './table.ts';

/** Fetches stretches, all in one go. */
export type Fetch = (stretches: readonly Stretch[]) => Promise<readonly Fetched[]>;

/*
 * A read of what is not known notes what it misses and throws `RowsNeeded`; `using` fetches that and calls the function
 * again. A function that looks at many rows one by one would be called as often: so around each row that was missing more
 * and more are fetched, twice as many with each miss of the same owner in the same table.
 */

const FIRST_AHEAD = 8;
const MOST_AHEAD = 4_096;
const BYTES_AHEAD = 2 * 1024 * 1024;
/** A function that has caused this many rows to be fetched in vain reads without a pattern: then little ahead. */
const ROWS_AHEAD = 200_000;
const MOST_CALLS = 100_000;

/** Rows through what is known and, for the rest, a fetch. */
export const farRows = (known: KnownRows, fetch: Fetch): RowSource => {
  const ahead = new Map<string, number>();
  const rowBytes = new Map<string, number>();
  let needed: Stretch[] = [];
  let fetchedAhead = 0;

  /** How many rows to fetch beside what is missed in this table of this owner. */
  const nextAhead = (table: Table, cells: Key): number => {
    const owner = table.key.length > 1 ? keyText(table, cells.slice(0, 1)) : '';
    const name = `${table.name} ${owner}`;
    const now = Math.min((ahead.get(name) ?? FIRST_AHEAD / 2) * 2, MOST_AHEAD);
    ahead.set(name, now);
    const fitting = Math.max(4, Math.floor(BYTES_AHEAD / (rowBytes.get(table.name) ?? 256)));
    const count = Math.min(now, fitting, fetchedAhead > ROWS_AHEAD ? 64 : Infinity);
    fetchedAhead += count;
    return count;
  };

  /** Asks for what lies between two edges, at least `limit` rows of it, and some around it. */
  const need = (
    table: Table,
    low: Edge,
    high: Edge,
    { reverse, limit }: { reverse: boolean; limit?: number },
  ): never => {
    const owner = edgesOfOwner(table, (reverse ? high : low).cells);
    const count = nextAhead(table, (reverse ? high : low).cells);
    const up = (from: Edge, to: Edge, many?: number): Stretch => ({
      table,
      low: from,
      high: known.nextAbove(table, from, to),
      reverse: false,
      ...(many === undefined ? {} : { limit: many }),
    });
    const down = (from: Edge, to: Edge, many?: number): Stretch => ({
      table,
      low: known.nextBelow(table, from, to),
      high: from,
      reverse: true,
      ...(many === undefined ? {} : { limit: many }),
    });
    const enough = limit === undefined ? undefined : Math.max(limit, count);
    if (reverse)
      needed.push(
        ...(enough === undefined
          ? [down(high, low), down(low, owner.low, count)]
          : [down(high, owner.low, enough)]),
        up(high, owner.high, count),
      );
    else
      needed.push(
        ...(enough === undefined
          ? [up(low, high), up(high, owner.high, count)]
          : [up(low, owner.high, enough)]),
        down(low, owner.low, count),
      );
    throw new RowsNeeded();
  };

  const fetchNeeded = async (): Promise<void> => {
    const stretches = needed.filter(({ table, low, high }) => edgeText(table, low) < edgeText(table, high));
    needed = [];
    for (const [i, { rows, bytes }] of (await fetch(stretches)).entries()) {
      const { table, low, high, reverse, limit } = stretches[i] as Stretch;
      if (rows.length > 0) rowBytes.set(table.name, Math.max(1, bytes / rows.length));
      const last = rows.at(-1);
      // A full one may not be all: then it is known as far as its last row.
      const whole = limit === undefined || rows.length < limit || last === undefined;
      if (!reverse) known.add(table, low, whole ? high : edgesOf(last.key).high, rows);
      else known.add(table, whole ? low : edgesOf(last.key).low, high, [...rows].reverse());
    }
  };

  return {
    get(table, key) {
      const row = known.get(table, key);
      if (row === undefined) return undefined;
      if (row !== null) return copiedValue(table, row.value);
      const { low, high } = edgesOf(key);
      return need(table, low, high, { reverse: false, limit: 1 });
    },
    range(table, range) {
      refuseOpenRange(table, range.prefix.length);
      const { low, high } = edgesOfRange(range);
      const { reverse = false, limit = Infinity } = range;
      const { rows, missing } = known.find(table, { low, high, reverse, limit });
      if (missing !== undefined) {
        const rest = limit === Infinity ? { reverse } : { reverse, limit: limit - rows.length };
        return reverse ? need(table, low, missing, rest) : need(table, missing, high, rest);
      }
      return rows.map((row): Row => ({ key: row.key, value: copiedValue(table, row.value) }));
    },
    async using(fn) {
      for (let calls = 0; calls < MOST_CALLS; calls++) {
        needed = [];
        try {
          const result = await fn();
          if (needed.length === 0) return result;
        } catch (error) {
          // What else went wrong, went wrong because something was missing.
          if (needed.length === 0) throw error;
        }
        await fetchNeeded();
      }
      throw fail('E_INTERNAL', `rows were fetched ${MOST_CALLS} times, and some were still missing`);
    },
  };
};
