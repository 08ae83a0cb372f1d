import { z } from 'zod';
import { count, payloadValue } from './node-shape.ts';

/** The commit that a working directory was at; `changed`: files that git keeps differed from it; null: git did not say. */
export const GitCommit = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{40,64}$/),
  changed: z.boolean().nullable(),
});
export type GitCommit = z.infer<typeof GitCommit>;

/** How a program ended: with an exit code, or by a signal. */
export const ProgramEnd = z.strictObject({
  exitCode: z.int().nullable(),
  signal: z.string().max(32).nullable(),
});
export type ProgramEnd = z.infer<typeof ProgramEnd>;

/**
 * A program was run, and its calls were recorded under the id of the run: `python agent.py`. The payload holds `data_command`, its words.
 * It is in the history of the first call of the run; others have calls of it, too.
 */
export const RunRecorded = z.strictObject({
  type: z.literal('RunRecorded'),
  run: z.string().min(1),
  /** The working directory. */
  directory: z.string(),
  /** Null: it was in no git repository. */
  commit: GitCommit.nullable(),
  /** The names of the variables that the recorder set or changed; no values. */
  variables: z.array(z.string()),
  /** Milliseconds since 1970, by the recorder's clock. */
  startedAt: count,
  endedAt: count,
  end: ProgramEnd,
  payload: z.record(z.string(), payloadValue),
});
