import type { ObservationKind } from '@stemma/events';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { NewObservation } from '@stemma/queries';
import { nanosecondsOf } from '@stemma/values';
import { randomUUID } from 'node:crypto';

/** Something that a command showed. */
export type ObservedPosition = {
  readonly branchRef: BranchRef;
  readonly kind: ObservationKind;
  readonly what: string;
  readonly position: Position;
};

/** Records what a named actor looked at, where a history is set to record it (pool: Observations). */
export const recordObservations = async (
  home: Home,
  observations: readonly ObservedPosition[],
  actor: string | undefined,
): Promise<void> => {
  if (actor === undefined) return;
  const now = nanosecondsOf(Date.now());
  for (const { branchRef, kind, what, position } of observations) {
    const observed: NewObservation = { kind, what, position, times: 1, firstAt: now, lastAt: now };
    await home.branches.observe(branchRef, actor, [observed], randomUUID());
  }
};
