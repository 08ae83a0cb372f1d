import type { FixedRecord, NodeRecord, TurnRecord } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import { readChain } from './chain.ts';
import { nearestMark } from './mark.ts';
import { turnOf } from './read-position.ts';
import { isTombstone, recordedOf, REGION } from './records.ts';
import { IDS, TURNS, VERSIONS } from './tables.ts';

/** One node of a position, as the tree there has it. */
export type FoundNode =
  | { readonly kind: 'node'; readonly record: NodeRecord }
  | { readonly kind: 'turn'; readonly record: TurnRecord }
  | { readonly kind: 'fixed'; readonly record: FixedRecord };

/**
 * One node at a position without reading the rest: the newest of its rows in `ids` that counts there says where it is.
 * Undefined if it is not there at this position.
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const readNode = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
  id: string,
): FoundNode | undefined => {
  const limits = new Map(readChain(rows, history, strand, seq).map((link) => [link.strand, link.limit]));
  const found = rows
    .range(IDS, { prefix: [history, id], reverse: true, to: seq })
    .find(({ key }) => (key[2] as number) <= (limits.get(key[3] as number) ?? -1));
  if (found === undefined || isTombstone(found.value)) return undefined;
  const [region, place, ordinal] = found.value as [number, number, number | null];
  const [, , from, owner] = found.key as [string, string, number, number];
  const value =
    region === REGION.turnItself
      ? rows.get(TURNS, [history, owner, place, ordinal ?? 0, from])
      : rows.get(VERSIONS, [history, owner, region, place, id, from]);
  if (value === undefined) return undefined;
  if (region === REGION.turnItself) {
    const record = turnOf(place, ordinal ?? 0, value);
    return isOver(record.expires) ? undefined : { kind: 'turn', record };
  }
  const { headers, payload, expires, parent, ordinal: turn } = recordedOf(id, value);
  if (region === REGION.fixed) return { kind: 'fixed', record: { headers, payload } };
  if (payload === null || isOver(expires)) return undefined;
  const where =
    region === REGION.sys
      ? ({ kind: 'sys', number: 0 } as const)
      : ({ kind: 'turn', cycle: place, ordinal: turn } as const);
  return { kind: 'node', record: { headers, place: where, parent, expires, payload } };

  function isOver(expires: number | null): boolean {
    return expires !== null && expires <= nearestMark(rows, history, strand, seq).mark.cycle;
  }
};
