import { findSnapshot, openSnapshotWalk, type SnapshotPosition, type WalkStep } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { readPairCandidates, type Ends, type ReadChanges } from '@stemma/read-models';
import { changesBetween, lacksDiffs, readFrameChanges, type FrameChanges } from './changes-from-frames.ts';
import type { RowReader } from '@stemma/row-store';
import { idsBetween } from './frames-between.ts';

/** A tree of more nodes than this for each pair is not read whole: what can differ in a pair is read alone. */
const NODES_PER_PAIR = 64;

/** The most ids that are looked at one by one in a pair. */
const MAX_IDS = 512;

/**
 * Yields neighbouring snapshots, newest first, each pair with what can differ between the two. Of a few snapshots it reads only that,
 * of many the newest whole and of the others what the frames between them changed.
 */
export async function* snapshotPairs(
  projection: Projection,
  history: string,
  snapshots: readonly SnapshotPosition[],
): AsyncGenerator<WalkStep> {
  const [first, ...rest] = snapshots;
  if (first === undefined || rest.length === 0) return;
  const isLarge = await projection.read(
    (rows) => nodesOf(rows, history, first) > NODES_PER_PAIR * rest.length,
  );
  let walk: ReturnType<typeof openSnapshotWalk> | undefined;
  const readAlone = openPairReader(projection, history, first, rest.at(-1) as SnapshotPosition);
  let newer = first;
  for (const older of rest) {
    const alone = isLarge && walk === undefined ? await readAlone({ a: older, b: newer }) : undefined;
    if (alone !== undefined) yield alone;
    else {
      const from = newer;
      const onWay = (walk ??= await projection.read((rows) => openSnapshotWalk(rows, history, from)));
      const named = await idsBetween(projection, history, older, newer);
      yield onWay.stepBack(await projection.read((rows) => onWay.readPrevious(rows, older, named)));
    }
    newer = older;
  }
}

/**
 * A function that reads what can differ in a pair. Where rows cannot say it, because they are not folded yet or because much ends
 * with a cycle after the pair, the frames between all the pairs do, which are read once.
 */
const openPairReader = (
  projection: Projection,
  history: string,
  newest: SnapshotPosition,
  oldest: SnapshotPosition,
): ((ends: Ends) => Promise<WalkStep | undefined>) => {
  let frames: Promise<FrameChanges | undefined> | undefined;
  const readPair = (ends: Ends, changes?: ReadChanges): Promise<WalkStep | undefined> =>
    projection.read((rows) => readPairCandidates(rows, history, ends, MAX_IDS, changes));
  return async (ends) => {
    if (frames === undefined && !(await lacksDiffs(projection, history))) {
      const found = await readPair(ends);
      if (found !== undefined) return found;
    }
    const all = await (frames ??= readFrameChanges(projection, history, { a: oldest, b: newest }));
    return all && readPair(ends, changesBetween(all, ends.a.seq, ends.b.seq));
  };
};

const nodesOf = (rows: RowReader, history: string, { branchId, seq, cycle }: SnapshotPosition): number =>
  findSnapshot(rows, history, branchId, seq, cycle)?.nodes ?? 0;
