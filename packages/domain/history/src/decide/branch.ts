import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { branchTip, branchNotFound } from '../branch.ts';
import type { Command, StepOf } from '../command.ts';
import type { Decided } from '../contracts.ts';
import { checkName } from '../history-id.ts';
import type { BranchTip, HistoryState, Lookups, Sources } from '../state.ts';
import { checkNotes } from '../texts.ts';

type Branching = StepOf<'fork'> | StepOf<'rollback'>;
type BranchPosition = { readonly branchId: number; readonly seq: number };

/**
 * Starts a branch at a position (context-tree §5): a fork at any position of the history, a rollback at an earlier one
 * of the branch's ancestor path; a rollback also takes the branch's name. The cost does not depend on the tree's size.
 *
 * @throws E_BRANCH_NOT_FOUND, E_CONFLICT, E_SNAPSHOT_NOT_FOUND, E_NOT_ON_ANCESTOR_PATH, E_NAME_INVALID, E_NAME_TAKEN
 */
export const decideBranch = (
  state: HistoryState,
  command: Command,
  step: Branching,
  events: HistoryEvent[],
  sources: Sources & { readonly lookups: Lookups },
): Decided => {
  const from = requireTip(state, command, sources);
  const branchId = state.next;
  const { lookups } = sources;
  if (step.op === 'fork') {
    const at = step.at ?? { branchId: from.branchId, seq: from.seq };
    refuseMissing(state, at, sources);
    const name = newName(step.name ?? null, lookups);
    events.push({
      type: 'BranchStarted',
      how: 'fork',
      parent: at.branchId,
      at: at.seq,
      name,
      abandoned: null,
    });
  } else {
    refuseMissing(state, step.to, sources);
    refuseNotAncestor(state, from, step.to, sources);
    const abandoned = newName(step.abandoned ?? null, lookups);
    const { branchId: parent, name } = from;
    events.push({ type: 'BranchStarted', how: 'rollback', parent, at: step.to.seq, name, abandoned });
  }
  if (step.description !== undefined && step.description !== '')
    events.push({
      type: 'PositionAnnotated',
      branchId,
      seq: branchId,
      note: checkNotes(step.description, 'the description'),
    });
  return { branchId, events, repeats: null };
};

/**
 * The tip of the command's branch.
 *
 * @throws E_BRANCH_NOT_FOUND; E_CONFLICT if the tip is not the expected one.
 */
export const requireTip = (state: HistoryState, command: Command, sources: Sources): BranchTip => {
  const from = branchTip(state, command.branchId, sources);
  if (from === undefined) throw branchNotFound(state.history, command.branchId);
  refuseMoved(command, from.seq);
  return from;
};

/** @throws E_CONFLICT */
export const refuseMoved = ({ expected }: Command, seq: number): void => {
  if (expected !== undefined && expected !== seq)
    throw fail('E_CONFLICT', `the tip of the branch is frame ${seq}, not ${expected}`, { seq });
};

/** @throws E_SNAPSHOT_NOT_FOUND if there is no such position */
export const refuseMissing = (
  state: HistoryState,
  { branchId, seq }: BranchPosition,
  sources: Sources,
): void => {
  if (seq >= state.next || branchId >= state.next || branchTip(state, branchId, sources) === undefined)
    throw fail('E_SNAPSHOT_NOT_FOUND', `there is no position ${seq} of the branch ${branchId}`, {
      branchId,
      seq,
    });
};

const refuseNotAncestor = (
  state: HistoryState,
  from: BranchTip,
  to: BranchPosition,
  sources: Sources,
): void => {
  let [tip, limit]: [BranchTip | undefined, number] = [from, from.seq];
  while (tip !== undefined) {
    if (tip.branchId === to.branchId && to.seq <= limit) return;
    if (tip.parent === null) break;
    limit = Math.min(limit, tip.parent.at);
    tip = branchTip(state, tip.parent.branchId, sources);
  }
  throw fail(
    'E_NOT_ON_ANCESTOR_PATH',
    `position ${to.seq} of branch ${to.branchId} is not on the ancestor path of branch ${from.branchId}`,
    {
      ...to,
      branch: from.branchId,
    },
  );
};

/** A name for a branch. Digits alone are refused: they would be read as a branch id. */
const newName = (name: string | null, lookups: Lookups): string | null => {
  if (name === null) return null;
  if (/^[0-9]+$/.test(checkName(name)))
    throw fail('E_NAME_INVALID', `${name} is a number: numbers name branches already; choose another name`, {
      name,
    });
  if (lookups.branchNamed(name) !== undefined)
    throw fail('E_NAME_TAKEN', `the name ${name} already belongs to a branch`, { name });
  return name;
};
