import type { FlatTree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import {
  findSnapshot,
  listSnapshots,
  readPositionMeta,
  readTipSeq,
  type BranchRef,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import type { RowReader } from '@stemma/row-store';
import {
  isLocal,
  parseSelector,
  rangeDiff,
  rangeOptions,
  rangePairs,
  rangeResult,
  rangeSnapshots,
  type RangeDiff,
  type RangeOptions,
  type RangeResult,
  type RangeSide,
  type RangeSnapshot,
  type Selector,
} from '@stemma/selectors';
import { noSnapshot } from '../resolve-position.ts';
import { appearedAt, type TreePosition } from './appeared.ts';
import type { SelectSources } from './select-ids.ts';
import { snapshotPairs } from './snapshot-pairs.ts';

/** A snapshot of a range, with its position. */
type RangeStop = RangeSnapshot & BranchPosition;

/**
 * What a selector matches over a range of snapshots, each against the one before it (context-tree §6). If the selector
 * allows it, only one snapshot is loaded and the others follow from what changed.
 *
 * @throws E_SELECTOR_INVALID, also for what is no range; E_SNAPSHOT_RANGE_LIMIT, then E_SNAPSHOT_NOT_FOUND
 * (context-tree §10.22)
 */
export const selectRange = async (
  sources: SelectSources,
  branchRef: BranchRef,
  text: string,
  options: RangeOptions,
): Promise<RangeResult> => {
  const selector = parseSelector(text);
  if (selector.at.kind !== 'range')
    throw fail('E_SELECTOR_INVALID', 'at character 1: expected a range such as @t-5..@t0', { at: 0 });
  const { range, stops } = await readStops(sources.projection, branchRef, selector.at, options);
  const pairs = rangePairs(stops, options);
  const diffs = isLocal(selector)
    ? await diffsByChange(sources, branchRef.history, selector, pairs, options)
    : await diffsWhole(sources, branchRef.history, selector, pairs, options);
  return rangeResult(text, range, diffs, options);
};

const readStops = (
  projection: Projection,
  { history, branchId }: BranchRef,
  range: Parameters<typeof rangeSnapshots>[0],
  options: RangeOptions,
): Promise<{ readonly range: readonly RangeSnapshot[]; readonly stops: readonly RangeStop[] }> =>
  projection.read((rows) => {
    const tip = readTipSeq(rows, history, branchId);
    const { cycle } = readPositionMeta(rows, history, branchId, tip).meta;
    const askedSnapshots = rangeSnapshots(range, cycle, rangeOptions(options).maxSnapshots);
    for (const { label, cycle: end } of [askedSnapshots[0], askedSnapshots.at(-1)].filter(
      (each) => each !== undefined,
    ))
      if (end < 0 || findSnapshot(rows, history, branchId, tip, end) === undefined)
        throw noSnapshot(rows, history, branchId, label);
    const from = askedSnapshots[0]?.cycle ?? 0;
    const found = listSnapshots(rows, history, branchId, tip, { from, limit: askedSnapshots.length });
    return {
      range: askedSnapshots,
      stops: askedSnapshots.flatMap((each, i) => {
        const row = found[i];
        return row === undefined ? [] : [{ ...each, branchId: row.branchId, seq: row.seq }];
      }),
    };
  });

type Pairs = readonly (readonly [newer: RangeStop, older: RangeStop])[];

const diffsByChange = async (
  { projection }: SelectSources,
  history: string,
  selector: Selector,
  pairs: Pairs,
  options: RangeOptions,
): Promise<readonly RangeDiff[]> => {
  const diffs: RangeDiff[] = [];
  const stops = [...pairs.map(([newer]) => newer), ...pairs.slice(-1).map(([, older]) => older)];
  for await (const { newer, older, ids } of snapshotPairs(projection, history, stops)) {
    const [a, b] = pairs[diffs.length] as readonly [RangeStop, RangeStop];
    diffs.push(
      await projection.payloads.using(history, (source) =>
        rangeDiff({ label: a.label, tree: newer }, { label: b.label, tree: older }, selector, source, {
          ...options,
          only: ids,
        }),
      ),
    );
  }
  return diffs;
};

type LoadedSnapshot = { readonly label: string; readonly at: TreePosition; readonly tree: FlatTree };

const diffsWhole = async (
  { projection, load }: SelectSources,
  history: string,
  selector: Selector,
  pairs: Pairs,
  options: RangeOptions,
): Promise<readonly RangeDiff[]> => {
  const loadSnapshot = async ({ label, branchId, seq }: RangeStop): Promise<LoadedSnapshot> => {
    const at = { history, branchId, seq };
    return { label, at, tree: await projection.read((rows) => load(rows, at, selector)) };
  };
  const rangeSideOf = (rows: RowReader, { label, at, tree }: LoadedSnapshot): RangeSide => ({
    label,
    tree,
    appeared: appearedAt(rows, at, tree),
  });
  const diffs: RangeDiff[] = [];
  let previous: LoadedSnapshot | undefined;
  for (const [a, b] of pairs) {
    const newer: LoadedSnapshot = previous ?? (await loadSnapshot(a));
    const older = await loadSnapshot(b);
    diffs.push(
      await projection.payloads.using(history, (source) =>
        projection.read((rows) =>
          rangeDiff(rangeSideOf(rows, newer), rangeSideOf(rows, older), selector, source, options),
        ),
      ),
    );
    previous = older;
  }
  return diffs;
};
