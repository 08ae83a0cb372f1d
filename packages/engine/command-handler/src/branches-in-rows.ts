import { UNLOADED, withIds } from '@stemma/context-tree';
import { POSITIONS, type Sources } from '@stemma/history';
import { fetching, missing, missingKind, resume } from '@stemma/suspend';
import type { HistoryFacts, HistoryRows } from './history-rows.ts';

export type BranchSources = Pick<Sources, 'position' | 'branchTip'>;

/** Facts about a branch that must be read before `fn` of `withBranches` can use them. */
const UNREAD = missingKind<{ readonly key: string; readonly readFrom: (facts: HistoryFacts) => unknown }>(
  'branches',
  ({ key }) => key,
);

/** Reads facts from the rows; lets the rows catch up if they lack a position. */
const readFacts = <T>(rows: HistoryRows, fn: (facts: HistoryFacts) => T): Promise<T> =>
  resume(
    () => rows.readFacts(fn),
    fetching(POSITIONS, () => rows.catchUp()),
  );

/**
 * Runs `fn` with the branches in the rows. A branch that is not loaded has no recent frames, so its rows are
 * complete. It is read before `fn` runs again, not inside of `fn`, which changes the state: a read may happen
 * twice.
 *
 * @param next the frame that `fn` decides or applies
 * @param entered ids that the frame brings; those that the rows have are found at once
 */
export const withBranches = <T>(
  rows: HistoryRows,
  next: () => number,
  fn: (branches: BranchSources) => Promise<T>,
  entered: readonly string[] = [],
): Promise<T> => {
  const known = new Map<string, unknown>();
  const readOnce = <V>(key: string, readFrom: (facts: HistoryFacts) => V): V => {
    if (known.has(key)) return known.get(key) as V;
    throw missing(UNREAD, [{ key, readFrom }]);
  };
  const branches: BranchSources = {
    position: (branchId, seq) =>
      readOnce(`position ${branchId} ${seq}`, (facts) => {
        if (seq !== null && seq >= facts.head().next) throw missing(POSITIONS, [{ branchId, seq }]);
        return facts.branchState(branchId, seq, next());
      }),
    branchTip: (branchId) => readOnce(`tip ${branchId}`, (facts) => facts.branchTip(branchId, next())),
  };
  return resume(
    () => fn(branches),
    fetching(UNREAD, async (needs) => {
      for (const { key, readFrom } of needs) known.set(key, await readFacts(rows, readFrom));
    }),
    fetching(UNLOADED, (needs) => rows.readFacts((facts) => facts.loadTurns(withIds(needs, entered)))),
  );
};
