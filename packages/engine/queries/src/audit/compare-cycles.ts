import { compareBytes } from '@stemma/canonical';
import {
  listSnapshots,
  readThreadTimeline,
  type Position,
  type SnapshotRow,
  type ThreadStep,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import type { RowReader } from '@stemma/row-store';
import { messageKey } from '../threads/message-key.ts';
import { hashOfMessage, openThreadMessages, type MessageHash } from '../threads/thread-messages.ts';
import type { ComparedCycle, Comparison, CycleCounts } from './types.ts';

const MAX_CYCLES = 500;

type CyclePair = readonly [cycle: number, a: SnapshotRow | undefined, b: SnapshotRow | undefined];

/** The snapshots of two sides after the merge base, by cycle. The cycle of the merge base itself is equal and skipped. */
export type SideSnapshots = { readonly pairs: readonly CyclePair[]; readonly moreCycles: number };

/** @param mergeBase null: the sides are of two histories */
export const snapshotsOfSides = (
  rows: RowReader,
  mergeBase: Position | null,
  a: Position,
  b: Position,
): SideSnapshots => {
  const [byA, byB] = [snapshotsAfter(rows, mergeBase, a), snapshotsAfter(rows, mergeBase, b)];
  const numbers = [...new Set([...byA.keys(), ...byB.keys()])].toSorted((x, y) => x - y);
  const pairs = numbers
    .slice(0, MAX_CYCLES)
    .map((cycle): CyclePair => [cycle, byA.get(cycle), byB.get(cycle)]);
  return { pairs, moreCycles: numbers.length - pairs.length };
};

const snapshotsAfter = (
  rows: RowReader,
  mergeBase: Position | null,
  { history, branchId, seq }: Position,
): ReadonlyMap<number, SnapshotRow> => {
  const found = new Map<number, SnapshotRow>();
  for (const row of listSnapshots(rows, history, branchId, seq, {
    from: mergeBase?.cycle ?? 0,
    first: 'oldest',
  }))
    if (row.seq > (mergeBase?.seq ?? -1)) found.set(row.cycle, row);
  return found;
};

/** The cycles of both sides, and the snapshots of the first pair that showed the model something else. */
export type ComparedCycles = Pick<Comparison, 'cycles' | 'moreCycles'> & {
  readonly since: { readonly a: SnapshotRow; readonly b: SnapshotRow } | null;
};

/** One entry for the snapshots of a cycle on both sides. */
export const compareCycles = async (
  projection: Projection,
  { pairs, moreCycles }: SideSnapshots,
  a: Position,
  b: Position,
): Promise<ComparedCycles> => {
  const alike = await cyclesAlike(projection, pairs, a, b);
  let since: ComparedCycles['since'] = null;
  const cycles = pairs.map(([cycle, one, other]): ComparedCycle => {
    const isPair = one !== undefined && other !== undefined;
    const same = isPair && (isSameThread(one, other) || alike.has(cycle));
    if (isPair && !same) since ??= { a: one, b: other };
    return { cycle, a: countsOf(one), b: countsOf(other), same };
  });
  return { cycles, moreCycles, since };
};

const isSameThread = (a: SnapshotRow, b: SnapshotRow): boolean =>
  compareBytes(a.threadHash, b.threadHash) === 0;

/** The cycles whose threads say the same under other ids. */
const cyclesAlike = async (
  projection: Projection,
  pairs: readonly CyclePair[],
  a: Position,
  b: Position,
): Promise<ReadonlySet<number>> => {
  const candidates = new Set(
    pairs.flatMap(([cycle, one, other]) =>
      one !== undefined && other?.blocks === one.blocks && !isSameThread(one, other) ? [cycle] : [],
    ),
  );
  const alike = new Set<number>();
  if (candidates.size === 0) return alike;
  const [ofA, ofB] = [messagesByCycle(projection, a), messagesByCycle(projection, b)];
  for (const cycle of [...candidates].toSorted((x, y) => x - y)) {
    const [one, other] = [await ofA(cycle), await ofB(cycle)];
    if (one.length === other.length && one.every((hash, i) => hash === other[i])) alike.add(cycle);
  }
  return alike;
};

/** The messages of a branch's snapshots, for cycles in rising order. */
const messagesByCycle = (
  projection: Projection,
  { history, branchId, seq }: Position,
): ((cycle: number) => Promise<readonly MessageHash[]>) => {
  const thread = openThreadMessages(projection, history, (json) => hashOfMessage(messageKey(json)));
  let steps: readonly ThreadStep[] | undefined;
  let next = 0;
  return async (cycle) => {
    steps ??= await projection.read((rows) => [...readThreadTimeline(rows, history, branchId, seq)]);
    let messages: readonly MessageHash[] = [];
    for (let step = steps[next]; step !== undefined && step.snapshot.cycle <= cycle; step = steps[++next])
      ({ messages } = await thread.at(step));
    return messages;
  };
};

const countsOf = (row: SnapshotRow | undefined): CycleCounts | null =>
  row === undefined ? null : { seq: row.seq, nodes: row.nodes, blocks: row.blocks, turns: row.turns };
