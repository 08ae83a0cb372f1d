import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { branchNotFound } from '../branch.ts';
import { checkName } from '../history-id.ts';
import type { BranchTip } from '../state.ts';
import { checkNotes } from '../texts.ts';
import type { PendingFrame } from './pending-frame.ts';

/** The tip of the command's branch. @throws E_BRANCH_NOT_FOUND */
export const requireTip = ({ history, branchId, tipOf }: PendingFrame): BranchTip => {
  const tip = tipOf(branchId);
  if (tip === undefined) throw branchNotFound(history, branchId);
  return tip;
};

/** A name for a branch. Digits alone are refused: they would be read as a branch id. @throws E_NAME_INVALID, E_NAME_TAKEN */
export const newBranchName = ({ lookups }: PendingFrame, name: string | null): string | null => {
  if (name === null) return null;
  if (/^[0-9]+$/.test(checkName(name)))
    throw fail('E_NAME_INVALID', `${name} is a number: numbers name branches already; choose another name`, {
      name,
    });
  if (lookups.branchNamed(name) !== undefined)
    throw fail('E_NAME_TAKEN', `the name ${name} already belongs to a branch`, { name });
  return name;
};

/** What the branch that starts with this frame is for. */
export function* describeStart({ seq }: PendingFrame, description = ''): Iterable<HistoryEvent> {
  if (description === '') return;
  yield {
    type: 'PositionAnnotated',
    branchId: seq,
    seq,
    note: checkNotes(description, 'the description'),
  };
}
