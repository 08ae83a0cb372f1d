import type { FlatTree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { findSnapshot, listSnapshots, nearestMark, readHead, type Line } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
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
import { appearedAt, type At } from './appeared.ts';
import { pairsBack } from './pairs-back.ts';
import type { Asked } from './select-ids.ts';

/** A snapshot of a range, found. */
type Stop = RangeSnapshot & { readonly strand: number; readonly seq: number };

/**
 * What a selector gives over a range of snapshots, each against the one before it (context-tree §6). Where the selector
 * allows it one snapshot is loaded and the others follow from what changed.
 *
 * @throws E_SELECTOR_INVALID, also for what is no range; E_SNAPSHOT_RANGE_LIMIT, then E_SNAPSHOT_NOT_FOUND
 * (context-tree §10.22)
 */
export const selectRange = async (
  asked: Asked,
  line: Line,
  text: string,
  options: RangeOptions,
): Promise<RangeResult> => {
  const selector = parseSelector(text);
  if (selector.at.kind !== 'range')
    throw fail('E_SELECTOR_INVALID', 'at character 1: expected a range such as @t-5..@t0', { at: 0 });
  const { range, stops } = await stopsOf(asked.projector, line, selector.at, options);
  const pairs = rangePairs(stops, options);
  const diffs = isLocal(selector)
    ? await diffsByChange(asked, line.history, selector, pairs, options)
    : await diffsWhole(asked, line.history, selector, pairs, options);
  return rangeResult(text, range, diffs, options);
};

const stopsOf = (
  projector: ServedRows,
  { history, strand }: Line,
  range: Parameters<typeof rangeSnapshots>[0],
  options: RangeOptions,
): Promise<{ readonly range: readonly RangeSnapshot[]; readonly stops: readonly Stop[] }> =>
  projector.read((rows) => {
    const head = readHead(rows, history, strand);
    const { cycle } = nearestMark(rows, history, strand, head).mark;
    const asked = rangeSnapshots(range, cycle, rangeOptions(options).maxSnapshots);
    for (const { label, cycle: end } of [asked[0], asked.at(-1)].filter((each) => each !== undefined))
      if (end < 0 || findSnapshot(rows, history, strand, head, end) === undefined)
        throw fail('E_SNAPSHOT_NOT_FOUND', `the lineage ${strand} of ${history} has no snapshot ${label}`, {
          history,
          lineage: strand,
          asked: label,
        });
    const from = asked[0]?.cycle ?? 0;
    const found = listSnapshots(rows, history, strand, head, { from, limit: asked.length });
    return {
      range: asked,
      stops: asked.flatMap((each, i) => {
        const row = found[i];
        return row === undefined ? [] : [{ ...each, strand: row.strand, seq: row.seq }];
      }),
    };
  });

type Pairs = readonly (readonly [newer: Stop, older: Stop])[];

const diffsByChange = async (
  { projector }: Asked,
  history: string,
  selector: Selector,
  pairs: Pairs,
  options: RangeOptions,
): Promise<readonly RangeDiff[]> => {
  const diffs: RangeDiff[] = [];
  const stops = [...pairs.map(([newer]) => newer), ...pairs.slice(-1).map(([, older]) => older)];
  for await (const { newer, older, ids } of pairsBack(projector, history, stops)) {
    const [a, b] = pairs[diffs.length] as readonly [Stop, Stop];
    diffs.push(
      await projector.payloads.using(history, (source) =>
        rangeDiff({ label: a.label, tree: newer }, { label: b.label, tree: older }, selector, source, {
          ...options,
          only: ids,
        }),
      ),
    );
  }
  return diffs;
};

type Side = { readonly label: string; readonly at: At; readonly tree: FlatTree };

const diffsWhole = async (
  { projector, load }: Asked,
  history: string,
  selector: Selector,
  pairs: Pairs,
  options: RangeOptions,
): Promise<readonly RangeDiff[]> => {
  const side = async ({ label, strand, seq }: Stop): Promise<Side> => {
    const at = { history, strand, seq };
    return { label, at, tree: await projector.read((rows) => load(rows, at, selector)) };
  };
  const asOf = (rows: RowReader, { label, at, tree }: Side): RangeSide => ({
    label,
    tree,
    appeared: appearedAt(rows, at, tree),
  });
  const diffs: RangeDiff[] = [];
  let known: Side | undefined;
  for (const [a, b] of pairs) {
    const newer: Side = known ?? (await side(a));
    const older = await side(b);
    diffs.push(
      await projector.payloads.using(history, (source) =>
        projector.read((rows) => rangeDiff(asOf(rows, newer), asOf(rows, older), selector, source, options)),
      ),
    );
    known = older;
  }
  return diffs;
};
