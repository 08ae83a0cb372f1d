import type { FixedRecord, NodeRecord, TurnRecord } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import type { Link } from './chain.ts';
import { turnOf } from './read-position.ts';
import { isTombstone, recordedOf, REGION } from './records.ts';
import { IDS, TURNS, VERSIONS } from './tables.ts';

/** One node of a position, as the tree there has it. */
export type FoundNode =
  | { readonly kind: 'node'; readonly record: NodeRecord }
  | { readonly kind: 'turn'; readonly record: TurnRecord }
  | { readonly kind: 'fixed'; readonly record: FixedRecord };

/** Where nodes are read: the frames that count, and the newest cycle. */
export type NodesAt = { readonly history: string; readonly chain: readonly Link[]; readonly cycle: number };

const SYS = { kind: 'sys', number: 0 } as const;

/**
 * Reads nodes of a position one by one, without the rest: the newest of a node's rows in `ids` that counts there says
 * where it is. Undefined for what is not there.
 */
export const nodeReader = (
  rows: RowReader,
  { history, chain, cycle }: NodesAt,
): ((id: string) => FoundNode | undefined) => {
  const limits = new Map(chain.map(({ strand, limit }) => [strand, limit]));
  const newest = chain.at(-1)?.limit ?? 0;
  const isOver = (expires: number | null): boolean => expires !== null && expires <= cycle;
  return (id) => {
    const found = rows
      .range(IDS, { prefix: [history, id], reverse: true, to: newest })
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
    const where = region === REGION.sys ? SYS : ({ kind: 'turn', cycle: place, ordinal: turn } as const);
    return { kind: 'node', record: { headers, place: where, parent, expires, payload } };
  };
};

/** The turn of a place, if it lives at the position. */
export const turnAt = (
  rows: RowReader,
  { history, chain, cycle }: NodesAt,
  place: { readonly cycle: number; readonly ordinal: number },
): TurnRecord | undefined => {
  let newest: { readonly from: number; readonly record: TurnRecord | null } | undefined;
  for (const { strand, limit } of chain) {
    const prefix = [history, strand, place.cycle, place.ordinal];
    for (const { key, value } of rows.range(TURNS, { prefix, to: limit, reverse: true, limit: 1 })) {
      const from = key[4] as number;
      if (from < (newest?.from ?? 0)) continue;
      newest = { from, record: isTombstone(value) ? null : turnOf(place.cycle, place.ordinal, value) };
    }
  }
  const record = newest?.record ?? undefined;
  return record === undefined || (record.expires !== null && record.expires <= cycle) ? undefined : record;
};
