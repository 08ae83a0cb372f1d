import { fail } from '@stemma/errors';
import { FirstDifference, GitCommit, ProgramEnd, EndedRerunCounts } from '@stemma/events';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { checkedInCall } from '../decide/call-bodies.ts';
import { count, id } from './fields.ts';
import { words } from './record-run.ts';
import { defineStep } from './step.ts';

/** The ids of reruns begin so. */
export const RERUN = 'rerun-';

/** True for the id of a rerun: no rerun stands for a recorded run. */
export const isRerun = (run: string): boolean => run.startsWith(RERUN);

/** The id of the command that records the end of a rerun: it ends once. */
export const endOfRerun = (rerun: string): string => `${rerun}.ended`;

/**
 * Records what came of running a recorded agent again. The id of the command is the rerun's with `.ended` behind it.
 *
 * @throws E_COMMAND_INVALID
 */
export const endRerun = defineStep({
  op: 'end_rerun',
  schema: z.strictObject({
    op: z.literal('end_rerun'),
    rerun: id.max(240).startsWith(RERUN),
    of: id.max(256).nullable(),
    command: words,
    directory: z.string().max(65_536),
    commit: GitCommit.nullable(),
    startedAt: count,
    endedAt: count,
    end: ProgramEnd,
    exit: z.int().min(0).max(255),
    counts: EndedRerunCounts,
    bindings: z.array(z.strictObject({ kind: z.string().min(1).max(64), count })).max(1_000),
    difference: FirstDifference.extend({
      label: z.string().max(1_024),
      cause: z.string().max(64),
      node: z.string().max(1_024).nullable(),
    }).nullable(),
    arm: z.string().min(1).max(256).optional(),
    check: z.string().max(65_536).optional(),
    checkEnd: ProgramEnd.optional(),
    forks: z
      .array(z.strictObject({ history: id.max(256), branchId: count }))
      .max(1_000)
      .optional(),
  }),
  on: 'its branch',
  kind: 'rerun',
  alone: true,
  byActor: true,
  secrets: {
    command: { as: 'data_command' },
    directory: { as: 'directory' },
    rerun: 'none',
    of: 'name',
    commit: 'none',
    startedAt: 'none',
    endedAt: 'none',
    end: 'none',
    exit: 'none',
    counts: 'none',
    bindings: 'none',
    difference: 'none',
    arm: { as: 'arm' },
    check: { as: 'data_check' },
    checkEnd: 'none',
    forks: 'none',
  },
  *decide(pending, { op: _op, command, directory, check, ...ended }) {
    if (pending.command !== endOfRerun(ended.rerun))
      throw fail(
        'E_COMMAND_INVALID',
        `the command that ends a rerun must have the id ${endOfRerun(ended.rerun)}`,
      );
    yield {
      type: 'RerunEnded',
      ...ended,
      directory: checkedInCall(directory, 'the directory') as string,
      payload: {
        data_command: checkedInCall(command, 'the command'),
        ...defined({ data_check: check === undefined ? undefined : checkedInCall(check, 'the check') }),
      },
    };
  },
});
