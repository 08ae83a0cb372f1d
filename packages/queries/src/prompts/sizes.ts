import {
  listSnapshots,
  readBranch,
  readPartialTree,
  readTipSeq,
  type BranchRef,
  type SnapshotRow,
  type ThreadEntry,
} from '@stemma/history-store';
import { NODE_KIND } from '@stemma/context-tree';
import type { Projection } from '@stemma/projector';
import { findFrameSummary } from '@stemma/read-models';
import { LRUCache } from 'lru-cache';
import { openMeasures, type Counts, type Measures } from './measure.ts';
import { entriesOf, readPromptStep } from './prompt-steps.ts';
import { roleIn, sizesOfTimeline } from './sizes-of-timeline.ts';
import type { PromptParts, PromptSize, PromptSizes, SizesOptions } from './sizes-types.ts';

const MILLION = 1_000_000n;

/** The sizes that are kept: what a call was shown never changes. */
const MAX_KEPT = 100_000;

/** From so many calls before a page whose sizes nobody knows, all are summed up from the beginning at once. */
const MAX_BEFORE = 500;

/** The sizes of calls by the frames of their snapshots. */
export type KnownSizes = {
  get(key: string): PromptSize | undefined;
  set(key: string, size: PromptSize): unknown;
};

export const openKnownSizes = (): KnownSizes => new LRUCache({ maxSize: MAX_KEPT, sizeCalculation: () => 1 });

/**
 * What calls on a branch's ancestor path were shown, in messages and tokens, oldest first. Each is that of the call before with what
 * the frames between changed; so a page costs what changed in its calls, once somebody has asked for those before. Of histories
 * whose thread is not full, all are summed up from the beginning.
 */
export const listPromptSizes = async (
  projection: Projection,
  { history, branchId, branch }: BranchRef,
  counts: Counts,
  known: KnownSizes,
  { after = -1, limit = Infinity }: SizesOptions = {},
): Promise<PromptSizes> => {
  const measures = await openMeasures(projection, history, counts);
  const { tokenizer } = measures;
  const { isFull, tip, snapshots } = await projection.read((rows) => {
    const seq = readTipSeq(rows, history, branchId);
    const page = limit === Infinity ? {} : { limit: limit + 1 };
    const from = { first: 'oldest', from: after + 1, ...page } as const;
    return {
      tip: seq,
      isFull: readBranch(rows, history, branchId).thread === 'full',
      snapshots: listSnapshots(rows, history, branchId, seq, from),
    };
  });
  const hasMore = snapshots.length > limit;
  const shown = hasMore ? snapshots.slice(0, limit) : snapshots;
  const keyOf = ({ seq }: { readonly seq: number }): string => `${seq} ${history}`;
  const first = shown.find((snapshot) => known.get(keyOf(snapshot)) === undefined);
  if (first === undefined)
    return { tokenizer, hasMore, sizes: shown.map((snapshot) => known.get(keyOf(snapshot)) as PromptSize) };
  const before = await projection.read((rows) => {
    const from = { from: first.cycle - 1, limit: MAX_BEFORE };
    return first.cycle === 0 ? [] : listSnapshots(rows, history, branchId, tip, from);
  });
  const nearest = before.findIndex((snapshot) => known.get(keyOf(snapshot)) !== undefined);
  if (!isFull || (nearest === -1 && before.length === MAX_BEFORE)) {
    const all = await sizesOfTimeline(projection, { history, branchId, branch }, measures);
    for (const size of all) known.set(keyOf(size), size);
    const last = shown.at(-1)?.cycle ?? -1;
    return { tokenizer, hasMore, sizes: all.filter(({ cycle }) => cycle > after && cycle <= last) };
  }
  const sizes: PromptSize[] = [];
  let previous: SnapshotRow | null = nearest === -1 ? null : (before[nearest] ?? null);
  let size = previous === null ? undefined : known.get(keyOf(previous));
  const lacking = before.slice(0, nearest === -1 ? before.length : nearest).reverse();
  for (const snapshot of [...lacking, ...shown]) {
    size =
      known.get(keyOf(snapshot)) ??
      (await sizeAfter(projection, history, measures, previous, size, snapshot));
    known.set(keyOf(snapshot), size);
    if (snapshot.cycle > after) sizes.push(size);
    previous = snapshot;
  }
  return { tokenizer, hasMore, sizes };
};

/** The size of a call, of that of the one before and of what changed. */
const sizeAfter = async (
  projection: Projection,
  history: string,
  measures: Measures,
  previous: SnapshotRow | null,
  size: PromptSize | undefined,
  snapshot: SnapshotRow,
): Promise<PromptSize> => {
  const { cycle, branchId, seq } = snapshot;
  const { before, after, withSys } = await readPromptStep(projection, history, previous, snapshot, 'changed');
  const { at, ends } = await projection.read((rows) => {
    const summary = findFrameSummary(rows, history, seq);
    const tree = readPartialTree(rows, history, branchId, seq, { minDepth: 0, maxDepth: 1, ids: [] });
    const inTurn = new Set<string>();
    for (let i = tree.seq; i < tree.ah; i++)
      if (tree.kinds[i] === NODE_KIND.block) inTurn.add(tree.ids[i] as string);
    const entries = entriesOf(tree).filter(({ inSys }) => !inSys);
    return { at: Number(summary.at / MILLION), ends: { inTurn, entries } };
  });
  const roles = { ...(size?.roles ?? NO_ROLES) };
  let tokens = size?.tokens ?? 0;
  let sys = withSys ? 0 : (size?.regions.sys ?? 0);
  for (const [entries, sign] of [
    [before, -1],
    [after, 1],
  ] as const)
    for (const entry of entries) {
      const measured = (await measures.measure(entry)).tokens;
      tokens += sign * measured;
      roles[roleIn(entry)] += sign * measured;
      if (sign === 1 && entry.inSys) sys += measured;
    }
  let [turn, head] = [0, 0];
  for (const entry of ends.entries) {
    const measured = (await measures.measure(entry)).tokens;
    if (ends.inTurn.has(entry.headers.id)) turn += measured;
    else head += measured;
  }
  const [old, fresh] = [idsOf(before), idsOf(after)];
  return {
    ...{ cycle, branchId, seq, at },
    messages: (size?.messages ?? 0) + after.length - before.length,
    tokens,
    roles,
    entered: countWithout(fresh, old),
    removed: countWithout(old, fresh),
    regions: { sys, earlier: tokens - sys - turn - head, turn, head },
  };
};

const NO_ROLES: PromptParts['roles'] = { system: 0, user: 0, assistant: 0, tool: 0, other: 0 };

const idsOf = (entries: readonly ThreadEntry[]): ReadonlySet<string> =>
  new Set(entries.map(({ headers }) => headers.id));

const countWithout = (ids: ReadonlySet<string>, others: ReadonlySet<string>): number =>
  [...ids].filter((id) => !others.has(id)).length;
