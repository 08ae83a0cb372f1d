import type { EventRef, Headers } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import type { Segment } from './ancestor-path.ts';
import { turnOf } from './read-position.ts';
import { isTombstone, nodeRowOf, REGION } from './records.ts';
import { TURNS, VERSIONS } from './tables.ts';

/** A node as a row has it; its location is a key: `sys`, or the cycle and ordinal of a turn. */
export type ThreadNode = {
  readonly headers: Headers;
  readonly payload: EventRef;
  readonly expires: number | null;
  readonly parent: string | null;
  readonly location: string;
};
export type ThreadTurn = {
  readonly headers: Headers;
  readonly expires: number | null;
  readonly location: string;
};

/** What a row says from a frame on: the state of a node or turn, or (null) that it is removed. */
export type ThreadTimelineRow =
  | { readonly from: number; readonly what: 'node'; readonly id: string; readonly node: ThreadNode | null }
  | {
      readonly from: number;
      readonly what: 'turn';
      readonly location: string;
      readonly turn: ThreadTurn | null;
    }
  /** This frame rewrote what is under `^sys`: only the rows that follow count. */
  | { readonly from: number; readonly what: 'sys' };

export const SYS_LOCATION = 'sys';
export const turnLocation = (cycle: number, ordinal: number): string => `${cycle}/${ordinal}`;

/**
 * The rows of turns and nodes on an ancestor path, in the order of the frames. Of one frame first the rewrite of
 * `^sys`, then the removals, then the insertions: a node that moves leaves a row without cells at its old location.
 */
export const readThreadTimelineRows = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
): ThreadTimelineRow[] => {
  const found: (readonly [row: ThreadTimelineRow, rank: number])[] = [];
  const rewritten = new Set<number>();
  for (const { branchId, limit } of ancestorPath) {
    for (const region of [REGION.sys, REGION.turn]) {
      for (const { key, value } of rows.range(VERSIONS, { prefix: [history, branchId, region] })) {
        const [, , , number, id, from] = key;
        if (from > limit) continue;
        // A `^sys` location has the number of the frame that rewrote it; the first has 0.
        if (region === REGION.sys && number > 0 && !rewritten.has(number)) {
          rewritten.add(number);
          found.push([{ from: number, what: 'sys' }, 0]);
        }
        const isRemoved = isTombstone(value);
        found.push([
          { from, what: 'node', id, node: isRemoved ? null : nodeOf(region, number, id, value) },
          isRemoved ? 1 : 2,
        ]);
      }
    }
    for (const { key, value } of rows.range(TURNS, { prefix: [history, branchId] })) {
      const [, , cycle, ordinal, from] = key;
      if (from > limit) continue;
      const location = turnLocation(cycle, ordinal);
      const record = isTombstone(value) ? null : turnOf(cycle, ordinal, value);
      const turn = record && { headers: record.headers, expires: record.expires, location };
      found.push([{ from, what: 'turn', location, turn }, turn === null ? 1 : 2]);
    }
  }
  return found.sort(([a, x], [b, y]) => a.from - b.from || x - y).map(([row]) => row);
};

const nodeOf = (
  region: number,
  location: number,
  id: string,
  value: Parameters<typeof nodeRowOf>[1],
): ThreadNode => {
  const { headers, payload, expires, parent, ordinal } = nodeRowOf(id, value);
  return {
    headers,
    payload: payload ?? { seq: 0, index: 0 },
    expires,
    parent,
    location: region === REGION.sys ? SYS_LOCATION : turnLocation(location, ordinal),
  };
};
