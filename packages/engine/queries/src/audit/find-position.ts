import type { BranchRef, Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import type { RowReader } from '@stemma/row-store';
import { parseRef } from '@stemma/selectors';
import { catchUpWithNamed } from '../catch-up-with.ts';
import { findAnyBranch, findBranchIn, findBranchOf } from '../find-branch.ts';
import { positionAt, positionOf } from '../read.ts';

/**
 * The position that `@c3`, `BRANCH@c3` or a branch alone (by name or id: its draft) refers to.
 *
 * @throws E_SELECTOR_INVALID, E_SNAPSHOT_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const findPosition = (rows: RowReader, branchRef: BranchRef, text: string): Position => {
  if (text === '' || text.includes('@')) return positionOf(rows, branchRef, text);
  return positionOf(rows, findBranchOf(rows, branchRef.history, text), '');
};

/**
 * As {@link findPosition}; the branch may be of another history, by its address: `OTHER@c3`, `OTHER:BRANCH`.
 *
 * @throws E_SELECTOR_INVALID, E_SNAPSHOT_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const findAnyPosition = (rows: RowReader, branchRef: BranchRef, text: string): Position => {
  const { branch, at } = refOf(text);
  return positionAt(rows, branch === null ? branchRef : findAnyBranch(rows, branchRef.history, branch), at);
};

/** Resolves when the rows have what is in the log now of the history that a text names, if that is another one. */
export const catchUpWithOther = async (
  projection: Projection,
  { history }: BranchRef,
  text: string,
): Promise<void> => {
  const { branch } = refOf(text);
  if (branch === null) return;
  if (await projection.read((rows) => findBranchIn(rows, history, branch) !== undefined)) return;
  await catchUpWithNamed(projection, branch);
};

const refOf = (text: string): ReturnType<typeof parseRef> =>
  text === '' || text.includes('@') ? parseRef(text) : { branch: text, at: { kind: 'working' } };
