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

/** Two texts around what differs in them; null: there was none. `isWhole` false: the ends are cut, and `…` stands there. */
const bothTexts = { recorded: z.string().nullable(), now: z.string().nullable(), isWhole: z.boolean() };

/** What a page shows of a rerun besides its counts: a bounded part of the report, without secrets. */
export const RerunDetails = z.object({
  /** In the order in which they came, at most 200; behind them those that are missing. */
  calls: z.array(z.object({ label: z.string(), how: z.string() })),
  /** What differs first; null: nothing does, or it is a whole call. */
  difference: z
    .object({
      role: z.string().nullable(),
      /** The path of a parameter, or the name of a tool and the path in it. */
      name: z.string().nullable(),
      ...bothTexts,
      /** The tool call that a result answers; `call`: the recorded call that asked for it. */
      askedBy: z.object({ tool: z.string(), arguments: z.string(), call: z.string().nullable() }).nullable(),
      /** How many messages a shortened history no longer has. */
      gone: count,
      /** The position at which the message was recorded: `@s4`. */
      by: z.string().nullable(),
      /** The recorded calls that show the message. */
      shownTo: z.object({ first: z.string(), last: z.string(), calls: count, tokens: count }).nullable(),
    })
    .nullable(),
  /** Results of tools in whose place the recorded ones stood, at most five. */
  world: z.array(z.object({ call: z.string(), tool: z.string(), ...bothTexts })),
});
export type RerunDetails = z.infer<typeof RerunDetails>;

/**
 * A recorded agent ran again, answered from its recording, and ended. The payload holds `data_command`, its words, and may hold `data_check`
 * and `data_report`: {@link RerunDetails}. What went to providers is in forks; of what was answered from the recording, nothing else is
 * recorded.
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
