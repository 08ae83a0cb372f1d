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
 * @param leading what leads the frame of such a command: nothing, for looking is no intervention.
 * @throws E_BRANCH_NOT_FOUND, E_SNAPSHOT_NOT_FOUND, E_COMMAND_INVALID
 */
export const decideObserve = (
  state: HistoryState,
  command: Command,
  step: StepOf<'observe'>,
  leading: readonly HistoryEvent[],
  sources: Sources,
): Decided => {
  const { branchId } = requireTip(state, command, sources);
  const looks = step.observations.map(({ kind, what, at, times, first_at, last_at }): HistoryEvent => {
    refuseMissing(state, at, sources);
    if (at.branchId > at.seq || first_at > last_at)
      throw fail('E_COMMAND_INVALID', 'an observation ends before it starts');
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
  return { branchId, events: [...leading, ...looks], repeats: null };
};
