import { findSnapshot, openSnapshotWalk, type SnapshotPosition, type WalkStep } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { readPairCandidates } from '@stemma/read-models';
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
  let newer = first;
  for (const older of rest) {
    const ends = { a: older, b: newer };
    const alone =
      isLarge && walk === undefined
        ? await projection.read((rows) => readPairCandidates(rows, history, ends, MAX_IDS))
        : undefined;
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

const nodesOf = (rows: RowReader, history: string, { branchId, seq, cycle }: SnapshotPosition): number =>
  findSnapshot(rows, history, branchId, seq, cycle)?.nodes ?? 0;
