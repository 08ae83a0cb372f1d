import type { BranchSummaryAnswer, HistorySummaryAnswer } from '@stemma/api';

/** True if an id, a name, or one of its branches refers to the history. */
export const isChosen = (summary: HistorySummaryAnswer, chosen: string | null): boolean =>
  findChosenBranch(summary, chosen) !== undefined;

/**
 * The address of a branch by its id: no rollback changes it, as it changes the branch that the history's id names. The
 * same as in packages/domain/history (`branch-address.ts`), which the page does not load.
 */
export const addressById = (history: string, branchId: number): string => `${history}:${branchId}`;

/** A branch as the page lists it: its name, or its id after a colon. */
export const branchLabel = (branchId: number, name?: string | null): string => name ?? `:${branchId}`;

/**
 * The branch of a history that `chosen` names, by the server's rules: the history's id or name (then its `main`), or
 * either with the id or name of a branch after a colon.
 */
export const findChosenBranch = (
  { history, name, branches }: HistorySummaryAnswer,
  chosen: string | null,
): BranchSummaryAnswer | undefined => {
  if (chosen === null) return undefined;
  if (chosen === history || chosen === name) return branches.find(({ branch }) => branch === history);
  const colon = chosen.lastIndexOf(':');
  const prefix = chosen.slice(0, colon);
  if (colon === -1 || (prefix !== history && prefix !== name)) return undefined;
  const suffix = chosen.slice(colon + 1);
  return (
    branches.find((one) => one.name === suffix) ??
    branches.find(({ branchId }) => String(branchId) === suffix)
  );
};
