import type { RemovedNode } from '@stemma/api';
import { enteredIds, removalBy, removedIds, type HistoryEvent } from '@stemma/events';
import type { Home } from '@stemma/home';
import type { HistorySummary } from '@stemma/queries';
import { ancestorLimits } from './positions.ts';

/** What came into a tree and what left it on the way from one position to a later one of the same ancestor path. */
export type PositionDiff = {
  readonly added: Set<string>;
  readonly removed: Map<string, NonNullable<RemovedNode['cause']>>;
};

const FRAMES_AT_ONCE = 64;

/** The passages between positions of one ancestor path, given by their frames, oldest first: one for each but the first. */
export const positionDiffs = async (
  home: Home,
  summary: HistorySummary,
  branchId: number,
  seqs: readonly number[],
): Promise<readonly PositionDiff[]> => {
  const limits = ancestorLimits(summary, branchId);
  const diffs: PositionDiff[] = seqs.slice(1).map(() => ({ added: new Set(), removed: new Map() }));
  const end = seqs.at(-1) ?? -1;
  let at = 0;
  for (let from = (seqs[0] ?? 0) + 1; from <= end;) {
    const events = await home.read.events(summary.history, { from, limit: FRAMES_AT_ONCE });
    for (const { seq, branchId: eventBranchId, event } of events) {
      if (seq > end) return diffs;
      while (seq > (seqs[at + 1] ?? end)) at++;
      const positionDiff = diffs[at];
      if (positionDiff !== undefined && seq <= (limits.get(eventBranchId) ?? -1))
        applyEvent(positionDiff, event);
    }
    const last = events.at(-1);
    if (last === undefined) return diffs;
    from = last.seq + 1;
  }
  return diffs;
};

const applyEvent = (positionDiff: PositionDiff, event: HistoryEvent): void => {
  for (const id of enteredIds(event)) positionDiff.added.add(id);
  const cause = removalBy(event);
  if (cause !== null) for (const id of removedIds(event)) noteRemoved(positionDiff, id, cause);
};

/** What came and went in between was in neither of the two. */
const noteRemoved = (
  { added, removed }: PositionDiff,
  id: string,
  cause: NonNullable<RemovedNode['cause']>,
): void => {
  if (!added.delete(id)) removed.set(id, cause);
};
