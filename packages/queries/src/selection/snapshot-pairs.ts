import { openSnapshotWalk, type SnapshotPosition, type WalkStep } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { idsBetween } from './frames-between.ts';

/**
 * Yields neighbouring snapshots, newest first, each pair with what can differ between the two. Loads one snapshot
 * whole, and of the others what the frames between them changed.
 */
export async function* snapshotPairs(
  projection: Projection,
  history: string,
  snapshots: readonly SnapshotPosition[],
): AsyncGenerator<WalkStep> {
  const [first, ...rest] = snapshots;
  if (first === undefined || rest.length === 0) return;
  const walk = await projection.read((rows) => openSnapshotWalk(rows, history, first));
  let newer = first;
  for (const older of rest) {
    const named = await idsBetween(projection, history, older, newer);
    yield walk.stepBack(await projection.read((rows) => walk.readPrevious(rows, older, named)));
    newer = older;
  }
}
