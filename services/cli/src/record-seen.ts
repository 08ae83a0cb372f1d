import type { ObservationKind } from '@stemma/events';
import type { Line, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { Observed } from '@stemma/queries';
import { randomUUID } from 'node:crypto';

/** Something that a command showed. */
export type Seen = {
  readonly line: Line;
  readonly kind: ObservationKind;
  readonly what: string;
  readonly position: Position;
};

/** Records what a named actor looked at, where a history is set to record it (pool: Observations). */
export const recordSeen = async (
  home: Home,
  seen: readonly Seen[],
  actor: string | undefined,
): Promise<void> => {
  if (actor === undefined) return;
  const now = BigInt(Date.now()) * 1_000_000n;
  for (const { line, kind, what, position } of seen) {
    const observed: Observed = { kind, what, position, times: 1, firstAt: now, lastAt: now };
    await home.lineages.observe(line, actor, [observed], randomUUID());
  }
};
