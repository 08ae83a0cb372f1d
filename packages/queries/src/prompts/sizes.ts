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
import { entriesOf, readPromptSteps, type PromptStep } from './prompt-steps.ts';
import { roleIn, sizesOfTimeline } from './sizes-of-timeline.ts';
import type { PromptParts, PromptSize, PromptSizes, SizesOptions } from './sizes-types.ts';

const MILLION = 1_000_000n;

/** The sizes that are kept: what a call was shown never changes. */
const MAX_KEPT = 100_000;

/** Calls before a page that are looked at for one whose size is known; else the thread before the page is counted whole. */
const MAX_BEFORE = 100;

/** The sizes of calls by the frames of their snapshots. */
export type KnownSizes = {
  get(key: string): PromptSize | undefined;
  set(key: string, size: PromptSize): unknown;
};

export const openKnownSizes = (): KnownSizes => new LRUCache({ maxSize: MAX_KEPT, sizeCalculation: () => 1 });

/**
 * What calls on a branch's ancestor path were shown, in messages and tokens, oldest first. Each is that of the call before with what
 * the frames between changed: a page costs what changed in its calls and, where nobody has asked for those just before, the thread
 * before it. Of histories whose thread is not full, all are summed up from the beginning.
 */
export const listPromptSizes = async (
  projection: Projection,
  branchRef: BranchRef,
  counts: Counts,
  known: KnownSizes,
  { after = -1, limit = Infinity }: SizesOptions = {},
): Promise<PromptSizes> => {
  const { history, branchId } = branchRef;
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
  if (!isFull) {
    const range = { after, to: shown.at(-1)?.cycle ?? after };
    const sizes = await sizesOfTimeline(projection, branchRef, measures, range);
    for (const size of sizes) known.set(keyOf(size), size);
    return { tokenizer, hasMore, sizes };
  }
  const nearest = before.findIndex((snapshot) => known.get(keyOf(snapshot)) !== undefined);
  let previous: SnapshotRow | null = before[Math.max(0, nearest)] ?? null;
  let size =
    previous === null
      ? undefined
      : (known.get(keyOf(previous)) ??
        // What it had entered and removed is not known so, and nobody keeps it.
        (await sizeAfter(projection, history, measures, null, undefined, previous)));
  const sizes: PromptSize[] = [];
  const lacking = before.slice(0, Math.max(0, nearest)).reverse();
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
  const [step] = await readPromptSteps(projection, history, previous, [snapshot], 'changed');
  const { before, after, withSys } = step as PromptStep;
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
    for (const [i, measured] of (await measures.tokensOf(entries)).entries()) {
      const entry = entries[i] as ThreadEntry;
      tokens += sign * measured;
      roles[roleIn(entry)] += sign * measured;
      if (sign === 1 && entry.inSys) sys += measured;
    }
  let [turn, head] = [0, 0];
  for (const [i, measured] of (await measures.tokensOf(ends.entries)).entries()) {
    if (ends.inTurn.has((ends.entries[i] as ThreadEntry).headers.id)) turn += measured;
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
