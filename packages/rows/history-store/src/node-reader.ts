import type { FixedRecord, NodeRecord, TurnRecord } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import type { Segment } from './ancestor-path.ts';
import { turnOf } from './read-position.ts';
import { isTombstone, nodeRowOf, REGION } from './records.ts';
import { IDS, TURNS, VERSIONS } from './tables.ts';

/** One node of a position. */
export type FoundNode =
  | { readonly kind: 'node'; readonly record: NodeRecord }
  | { readonly kind: 'turn'; readonly record: TurnRecord }
  | { readonly kind: 'fixed'; readonly record: FixedRecord };

/** Where nodes are read: the ancestor path, and the newest cycle on it. */
export type AncestryScope = {
  readonly history: string;
  readonly ancestorPath: readonly Segment[];
  readonly cycle: number;
};

const SYS = { kind: 'sys', number: 0 } as const;

/**
 * A function that reads single nodes of a position, without the rest of it: the newest row of `ids` on the ancestor
 * path says where the node is. It returns undefined for a node that is not at the position.
 */
export const openNodeReader = (
  rows: RowReader,
  scope: AncestryScope,
): ((id: string) => FoundNode | undefined) => {
  const { history, ancestorPath } = scope;
  const limits = new Map(ancestorPath.map(({ branchId, limit }) => [branchId, limit]));
  const newest = ancestorPath.at(-1)?.limit ?? 0;
  const hasExpired = (expires: number | null): boolean => expires !== null && expires <= scope.cycle;
  return (id) => {
    const found = rows
      .range(IDS, { prefix: [history, id], reverse: true, to: newest })
      .find(({ key }) => key[2] <= (limits.get(key[3]) ?? -1));
    if (found === undefined || isTombstone(found.value)) return undefined;
    const [region, location, ordinal] = found.value as [number, number, number | null];
    const [, , from, owner] = found.key;
    if (region === REGION.turnItself) {
      const turn = rows.get(TURNS, [history, owner, location, ordinal ?? 0, from]);
      if (turn === undefined) return undefined;
      const record = turnOf(location, ordinal ?? 0, turn);
      return hasExpired(record.expires) ? undefined : { kind: 'turn', record };
    }
    const value = rows.get(VERSIONS, [history, owner, region, location, id, from]);
    if (value === undefined) return undefined;
    const { headers, payload, expires, parent, ordinal: turn } = nodeRowOf(id, value);
    if (region === REGION.fixed) return { kind: 'fixed', record: { headers, payload } };
    if (payload === null || hasExpired(expires)) return undefined;
    const where = region === REGION.sys ? SYS : ({ kind: 'turn', cycle: location, ordinal: turn } as const);
    return { kind: 'node', record: { headers, location: where, parent, expires, payload } };
  };
};

/** The turn at a location, if it lives at the position. */
export const findTurn = (
  rows: RowReader,
  { history, ancestorPath, cycle }: AncestryScope,
  location: { readonly cycle: number; readonly ordinal: number },
): TurnRecord | undefined => {
  let newest: { readonly from: number; readonly record: TurnRecord | null } | undefined;
  for (const { branchId, limit } of ancestorPath) {
    const prefix = [history, branchId, location.cycle, location.ordinal] as const;
    for (const { key, value } of rows.range(TURNS, { prefix, to: limit, reverse: true, limit: 1 })) {
      const from = key[4];
      if (from < (newest?.from ?? 0)) continue;
      newest = { from, record: isTombstone(value) ? null : turnOf(location.cycle, location.ordinal, value) };
    }
  }
  const record = newest?.record ?? undefined;
  return record === undefined || (record.expires !== null && record.expires <= cycle) ? undefined : record;
};
