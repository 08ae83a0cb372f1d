/**
 * The address of a branch: the history's id for the branch that has the name `main`, else `<history>:<branch id>`.
 *
 * @param main the branch that has the name `main`; the first, until a rollback passes the name on
 */
export const branchAddress = (history: string, branchId: number, main = 0): string =>
  branchId === main ? history : addressById(history, branchId);

/**
 * The address of the branch that a rollback abandons, given the parent of the branch that it starts: always with the
 * branch id, because after the rollback the history's id means the branch that took the name `main`.
 */
export const abandonedBranchAddress = (history: string, parent: number): string =>
  addressById(history, parent);

const addressById = (history: string, branchId: number): string => `${history}:${branchId}`;
