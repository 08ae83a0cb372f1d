import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import type { Command, StepOf } from '../command.ts';
import type { Decided } from '../contracts.ts';
import type { HistoryState, Sources } from '../state.ts';
import { checkWhat } from '../texts.ts';
import { refuseMissing, requireTip } from './branch.ts';

/**
 * Records what an actor looked at, outside every branch (pool: Observations). The caller has checked that the history
 * records observations.
 *
 * @throws E_BRANCH_NOT_FOUND, E_SNAPSHOT_NOT_FOUND, E_COMMAND_INVALID
 */
export const decideObserve = (
  state: HistoryState,
  command: Command,
  step: StepOf<'observe'>,
  sources: Sources,
): Decided => {
  const { branchId } = requireTip(state, command, sources);
  const events = step.observations.map(({ kind, what, at, times, first_at, last_at }): HistoryEvent => {
    refuseMissing(state, at, sources);
    if (at.branchId > at.seq || first_at > last_at)
      throw fail('E_COMMAND_INVALID', 'an observation ends before it begins');
    return {
      type: 'ObservationRecorded',
      kind,
      what: checkWhat(what),
      branchId: at.branchId,
      seq: at.seq,
      times,
      first_at,
      last_at,
    };
  });
  return { branchId, events, repeats: null };
};
