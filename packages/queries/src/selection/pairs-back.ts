import { walkBack, type WalkStep, type WalkStop } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { idsBetween } from './frames-between.ts';

/**
 * Neighbouring snapshots, newest first, each pair with what can differ between the two. One snapshot is loaded whole, of
 * the others what the frames between them changed.
 */
export async function* pairsBack(
  projector: ServedRows,
  history: string,
  snapshots: readonly WalkStop[],
): AsyncGenerator<WalkStep> {
  const [first, ...rest] = snapshots;
  if (first === undefined || rest.length === 0) return;
  const walk = await projector.read((rows) => walkBack(rows, history, first));
  let newer = first;
  for (const older of rest) {
    const named = await idsBetween(projector, history, older, newer);
    yield walk.back(await projector.read((rows) => walk.look(rows, older, named)));
    newer = older;
  }
}
