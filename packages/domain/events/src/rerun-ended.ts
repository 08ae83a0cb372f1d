import { z } from 'zod';
import { count, payloadValue } from './node-shape.ts';
import { GitCommit, ProgramEnd } from './run-recorded.ts';

/** How many calls of a rerun came out how; `otherOrder` counts of `same`. */
export const EndedRerunCounts = z.strictObject({
  same: count,
  otherOrder: count,
  bound: count,
  differs: count,
  extra: count,
  missing: count,
  live: count,
  notKept: count,
});
export type EndedRerunCounts = z.infer<typeof EndedRerunCounts>;

/** The first call that differs: its label, the number of the message from 1, why, and the node of the message in the recording. */
export const FirstDifference = z.strictObject({
  label: z.string(),
  message: count.nullable(),
  cause: z.string(),
  node: z.string().nullable(),
});
export type FirstDifference = z.infer<typeof FirstDifference>;

/**
 * A recorded agent ran again, answered from its recording, and ended. The payload holds `data_command`, its words, and `data_check`. What went to
 * providers is in forks; of what was answered from the recording, nothing else is recorded.
 */
export const RerunEnded = z.strictObject({
  type: z.literal('RerunEnded'),
  rerun: z.string().min(1),
  /** The run that answered; null: calls that were recorded under none. */
  of: z.string().nullable(),
  directory: z.string(),
  commit: GitCommit.nullable(),
  /** Milliseconds since 1970. */
  startedAt: count,
  endedAt: count,
  /** How the program ended, and the exit code of the rerun. */
  end: ProgramEnd,
  exit: count,
  counts: EndedRerunCounts,
  /** How many values of each kind were bound, by kind. */
  bindings: z.array(z.strictObject({ kind: z.string(), count })),
  difference: FirstDifference.nullable(),
  /** The arm of an experiment that it is a run of. */
  arm: z.string().optional(),
  /** How the command ended that checked what it left behind, whose text is `data_check` in the payload. */
  checkEnd: ProgramEnd.optional(),
  /** The branches with the calls that went to providers. */
  forks: z.array(z.strictObject({ history: z.string(), branchId: count })).optional(),
  payload: z.record(z.string(), payloadValue),
});
