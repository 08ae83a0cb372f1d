import { fail } from '@stemma/errors';
import { changesBranch, type BranchPosition } from '@stemma/events';
import type { PendingFrame } from './pending-frame.ts';

/**
 * The named position. Unless earlier steps change the branch it is the tip before the command: a name next to a commit
 * alone names the commit.
 *
 * @throws E_SNAPSHOT_NOT_FOUND
 */
export const positionOf = (pending: PendingFrame, given: BranchPosition | undefined): BranchPosition => {
  const { branchId, seq } = pending.branch;
  if (given === undefined) return { branchId, seq: pending.events.some(changesBranch) ? pending.seq : seq };
  if (given.seq >= pending.seq || given.branchId > given.seq || pending.tipOf(given.branchId) === undefined)
    throw fail('E_SNAPSHOT_NOT_FOUND', `there is no position ${given.seq} of branch ${given.branchId}`);
  return given;
};

/** @throws E_SNAPSHOT_NOT_FOUND if there is no such position of any branch */
export const refuseMissing = (
  { seq: next, tipOf }: Pick<PendingFrame, 'seq' | 'tipOf'>,
  { branchId, seq }: BranchPosition,
): void => {
  if (seq >= next || branchId >= next || tipOf(branchId) === undefined)
    throw fail('E_SNAPSHOT_NOT_FOUND', `there is no position ${seq} of the branch ${branchId}`, {
      branchId,
      seq,
    });
};

const isTaken = (pending: PendingFrame, name: string): boolean =>
  pending.names.has(name) || pending.lookups.nameTaken(name);

/** @throws E_NAME_TAKEN if a position of the history has the name */
export const takeName = (pending: PendingFrame, name: string): string => {
  if (isTaken(pending, name))
    throw fail('E_NAME_TAKEN', `the name ${name} already belongs to a position`, { name });
  pending.names.add(name);
  return name;
};

/** The name with `-` appended while it is taken. */
export const freeName = (pending: PendingFrame, name: string): string => {
  let free = name;
  while (isTaken(pending, free)) free += '-';
  return free;
};
