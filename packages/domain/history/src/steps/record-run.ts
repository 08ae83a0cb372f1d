import { fail } from '@stemma/errors';
import { GitCommit, ProgramEnd } from '@stemma/events';
import { z } from 'zod';
import { checkedInCall } from '../decide/call-bodies.ts';
import { count, id } from './fields.ts';
import { defineStep } from './step.ts';

/** The id of the command that records a run: it is recorded once. */
export const recordOfRun = (run: string): string => `run-${run}.recorded`;

/** The words of a command. */
export const words = z.array(z.string()).min(1).max(100_000);

/**
 * Records that a program ran whose calls have the id of the run. The id of the command follows from the run's ({@link recordOfRun}).
 *
 * @throws E_COMMAND_INVALID
 */
export const recordRun = defineStep({
  op: 'record_run',
  schema: z.strictObject({
    op: z.literal('record_run'),
    run: id.max(240),
    command: words,
    directory: z.string().max(65_536),
    commit: GitCommit.nullable(),
    variables: z.array(z.string().max(1_024)).max(1_000),
    startedAt: count,
    endedAt: count,
    end: ProgramEnd,
  }),
  on: 'its branch',
  kind: 'run',
  alone: true,
  secrets: {
    command: { as: 'data_command' },
    directory: { as: 'directory' },
    variables: { as: 'variables' },
    run: 'name',
    commit: 'none',
    startedAt: 'none',
    endedAt: 'none',
    end: 'none',
  },
  *decide(pending, { run, command, directory, commit, variables, startedAt, endedAt, end }) {
    if (pending.command !== recordOfRun(run))
      throw fail('E_COMMAND_INVALID', `the command that records a run must have the id ${recordOfRun(run)}`);
    yield {
      type: 'RunRecorded',
      run,
      directory: checkedInCall(directory, 'the directory') as string,
      commit,
      variables: checkedInCall(variables, 'the variables') as string[],
      startedAt,
      endedAt,
      end,
      payload: { data_command: checkedInCall(command, 'the command') },
    };
  },
});
