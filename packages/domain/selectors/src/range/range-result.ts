import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { inWindow } from '../select.ts';
import type { MarkerRange } from '../syntax.ts';
import type { ContentDiff } from './content-diff.ts';
import type { RangeOptions } from './range-options.ts';

/** A requested snapshot of a range: `@t-2` has the value -2, `@c3` the value 3. */
export type RangeSnapshot = {
  readonly kind: 't' | 'c';
  readonly value: number;
  readonly label: string;
  readonly cycle: number;
};

/** An id that is selected in both snapshots of a pair and differs; in `delta`, `from` is the newer value. */
export type RangeChange = {
  readonly id: string;
  readonly fields: readonly string[];
  readonly delta: { readonly [field: string]: { readonly from: WideJson; readonly to: WideJson } };
  readonly content_diff?: ContentDiff;
};

/** The result of a selector in a snapshot, compared with the previous snapshot. */
export type RangeDiff = {
  /** The label of the newer one. */
  readonly from: string;
  /** The label of the older one. */
  readonly to: string;
  readonly added_ids: readonly string[];
  readonly removed_ids: readonly string[];
  readonly changed: readonly RangeChange[];
  readonly stats: { readonly added: number; readonly removed: number; readonly changed: number };
};

/** The result of a selector over a range of snapshots (context-tree §6: range result), keys in this order. */
export type RangeResult = {
  readonly query: string;
  readonly snapshots: readonly RangeSnapshot[];
  readonly diffs: readonly RangeDiff[];
  readonly mode: 'pairwise';
  readonly limits?: {
    readonly maxSnapshots?: number;
    readonly maxChangesPerSnapshot?: number;
    readonly truncated?: true;
  };
};

/**
 * The snapshots of a range, newest first. They may not exist; but their number is checked here, before their existence
 * (context-tree §10.22).
 *
 * @param newest the cycle of the newest snapshot of the ancestor path, which `@t0` means.
 * @throws E_SNAPSHOT_RANGE_LIMIT
 */
export const rangeSnapshots = (
  range: MarkerRange,
  newest: number,
  maxSnapshots: number,
): readonly RangeSnapshot[] => {
  const top = Math.max(range.from, range.to);
  const count = top - Math.min(range.from, range.to) + 1;
  if (count > maxSnapshots)
    throw fail('E_SNAPSHOT_RANGE_LIMIT', `the range has ${count} snapshots, more than ${maxSnapshots}`, {
      snapshots: count,
      maxSnapshots,
    });
  return Array.from({ length: count }, (_, i) => {
    const value = top - i === 0 ? 0 : top - i;
    return {
      kind: range.of,
      value,
      label: `@${range.of}${value}`,
      cycle: range.of === 't' ? newest + value : value,
    };
  });
};

/** The pairs of neighbours that a window shows, newest first. */
export const rangePairs = <T>(snapshots: readonly T[], options: RangeOptions): readonly (readonly [T, T])[] =>
  inWindow(
    snapshots.slice(1).map((older, i) => [snapshots[i] as T, older] as const),
    options,
  );

/** The whole result, made of the differences of its pairs. */
export const rangeResult = (
  query: string,
  snapshots: readonly RangeSnapshot[],
  diffs: readonly RangeDiff[],
  options: RangeOptions,
): RangeResult => {
  const { maxSnapshots, maxChangesPerSnapshot } = options;
  const result = { query, snapshots, diffs, mode: 'pairwise' as const };
  if (maxSnapshots === undefined && maxChangesPerSnapshot === undefined) return result;
  const truncated = diffs.some(
    ({ added_ids, removed_ids, changed, stats }) =>
      added_ids.length < stats.added || removed_ids.length < stats.removed || changed.length < stats.changed,
  );
  return {
    ...result,
    limits: {
      ...defined({ maxSnapshots, maxChangesPerSnapshot }),
      ...(truncated ? { truncated } : {}),
    },
  };
};
