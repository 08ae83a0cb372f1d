import type { EventRef, Headers } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import type { Link } from './chain.ts';
import { turnOf } from './read-position.ts';
import { isTombstone, recordedOf, REGION } from './records.ts';
import { TURNS, VERSIONS } from './tables.ts';

/** A node as a row has it, where it lies told by a key: `sys`, or the cycle and ordinal of a turn. */
export type CourseNode = {
  readonly headers: Headers;
  readonly payload: EventRef;
  readonly expires: number | null;
  readonly parent: string | null;
  readonly place: string;
};
export type CourseTurn = {
  readonly headers: Headers;
  readonly expires: number | null;
  readonly place: string;
};

/** What a row says from a frame on: a node or a turn is so, or (null) no longer there. */
export type CourseRow =
  | { readonly from: number; readonly what: 'node'; readonly id: string; readonly node: CourseNode | null }
  | { readonly from: number; readonly what: 'turn'; readonly place: string; readonly turn: CourseTurn | null }
  /** What is under `^sys` is written anew by this frame: only the rows that follow count. */
  | { readonly from: number; readonly what: 'sys' };

export const SYS_PLACE = 'sys';
export const turnPlace = (cycle: number, ordinal: number): string => `${cycle}/${ordinal}`;

/**
 * All that the rows of a chain say of turns and nodes, in the order in which it came to hold. Of one frame first what
 * was written anew, then what went, then what came: a node that moves leaves a row without cells at its old place.
 */
export const courseRows = (rows: RowReader, history: string, chain: readonly Link[]): CourseRow[] => {
  const found: (readonly [row: CourseRow, rank: number])[] = [];
  const anew = new Set<number>();
  for (const { strand, limit } of chain) {
    for (const region of [REGION.sys, REGION.turn]) {
      for (const { key, value } of rows.range(VERSIONS, { prefix: [history, strand, region] })) {
        const [, , , number, id, from] = key as [string, number, number, number, string, number];
        if (from > limit) continue;
        // A `^sys` place has the number of the frame that wrote it anew; the first has 0.
        if (region === REGION.sys && number > 0 && !anew.has(number)) {
          anew.add(number);
          found.push([{ from: number, what: 'sys' }, 0]);
        }
        const gone = isTombstone(value);
        found.push([
          { from, what: 'node', id, node: gone ? null : nodeOf(region, number, id, value) },
          gone ? 1 : 2,
        ]);
      }
    }
    for (const { key, value } of rows.range(TURNS, { prefix: [history, strand] })) {
      const [, , cycle, ordinal, from] = key as [string, number, number, number, number];
      if (from > limit) continue;
      const place = turnPlace(cycle, ordinal);
      const record = isTombstone(value) ? null : turnOf(cycle, ordinal, value);
      const turn = record && { headers: record.headers, expires: record.expires, place };
      found.push([{ from, what: 'turn', place, turn }, turn === null ? 1 : 2]);
    }
  }
  return found.sort(([a, x], [b, y]) => a.from - b.from || x - y).map(([row]) => row);
};

const nodeOf = (
  region: number,
  place: number,
  id: string,
  value: Parameters<typeof recordedOf>[1],
): CourseNode => {
  const { headers, payload, expires, parent, ordinal } = recordedOf(id, value);
  return {
    headers,
    payload: payload ?? { seq: 0, index: 0 },
    expires,
    parent,
    place: region === REGION.sys ? SYS_PLACE : turnPlace(place, ordinal),
  };
};
