import { fail } from '@stemma/errors';
import type { StepOf } from '../command.ts';
import { checkNotes } from '../texts.ts';
import { emit, type PendingFrame } from './pending-frame.ts';

/** The id of the command that ends a run: it ends once. */
export const endOfRun = (run: string): string => `${run}.ended`;

/**
 * Records that rounds are asked for, or who makes them, or that they are over (pool: Runner).
 *
 * @throws E_RUN_NOT_FOUND, E_COMMAND_INVALID
 */
export const decideRun = (
  pending: PendingFrame,
  step: StepOf<'request_run'> | StepOf<'take_run'> | StepOf<'end_run'>,
): void => {
  if (step.op === 'request_run') {
    const {
      rounds,
      checkpoint_every: checkpointEvery = null,
      tokens = null,
      cost = null,
      seconds = null,
    } = step;
    emit(pending, { type: 'RunRequested', rounds, checkpointEvery, tokens, cost, seconds });
    return;
  }
  const { run } = step;
  if (pending.lookups.command(run) === undefined)
    throw fail('E_RUN_NOT_FOUND', `nobody asked for a run ${run} in this history`, { run });
  if (step.op === 'take_run') {
    emit(pending, {
      type: 'RunTaken',
      run,
      runner: checkNotes(step.runner, 'the name of the runner'),
      round: step.round,
    });
    return;
  }
  if (pending.command !== endOfRun(run))
    throw fail('E_COMMAND_INVALID', `the command that ends a run must have the id ${endOfRun(run)}`);
  const { how, why, code, rounds } = step;
  emit(pending, { type: 'RunEnded', run, how, why: checkNotes(why, 'the reason'), code, rounds });
};
