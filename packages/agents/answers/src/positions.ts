import { isStemmaError } from '@stemma/errors';
import { branchRefOf, type BranchRef, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { HistorySummary } from '@stemma/queries';

/** The position that a reference names, or null where there is no such snapshot. */
export const positionOrNull = async (
  home: Home,
  branchRef: BranchRef,
  reference: string,
): Promise<Position | null> => {
  try {
    return await home.position(branchRef, reference);
  } catch (error) {
    // In a closed history, a position that is not found may be after the frame at which it stops.
    const absent = ['E_SNAPSHOT_NOT_FOUND', 'E_HISTORY_DAMAGED', 'E_HISTORY_DEFECTIVE'];
    if (isStemmaError(error) && absent.includes(error.code)) return null;
    throw error;
  }
};

/** The snapshot before a position: of the cycle before it, or, for a position that is no snapshot, the newest. */
export const findPreviousSnapshot = async (home: Home, position: Position): Promise<Position | null> => {
  const cycle = position.committed && position.cycle !== null ? position.cycle - 1 : position.cycle;
  return cycle === null || cycle < 0
    ? null
    : positionOrNull(home, branchRefOf(position.history, position.branchId), `@c${cycle}`);
};

/**
 * For every branch on the ancestor path of a branch's newest position, the last frame of it that counts (snapshots:
 * branches).
 */
export const ancestorLimits = (summary: HistorySummary, branchId: number): ReadonlyMap<number, number> => {
  const limits = new Map<number, number>();
  let limit = Number.POSITIVE_INFINITY;
  for (let next: number | null = branchId; next !== null;) {
    limits.set(next, limit);
    const branch: HistorySummary['branches'][number] | undefined = summary.branches.find(
      (one) => one.branchId === next,
    );
    limit = Math.min(limit, branch?.at ?? limit);
    next = branch?.parent ?? null;
  }
  return limits;
};
