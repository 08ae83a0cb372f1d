import type { WideJson } from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import { z } from 'zod';

export const EXPERIMENT_FORMAT = 'stemma-experiment@1';

const MAX_COMMANDS = 1_000_000;
const MAX_STEPS = 100_000;

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Nanoseconds since 1970 as a text: beyond what a JSON number holds for everybody. */
const time = z.string().regex(/^\d{1,19}$/);
const json = z.custom<WideJson>((value) => value !== undefined);
const name = z.string().min(1).max(600);

const author = z.union([
  z.strictObject({ recorder: name.max(256) }),
  z.strictObject({ actor: name.max(256) }),
]);

/**
 * A step as commands have it, with two differences: `at_ns` is a text, and a position is the number of the command
 * after which it is (`after`). What else it holds is checked by the writer.
 */
const step = z.record(z.string().max(40), json);

/** A command as it was decided, and what became of it. */
const command = z.strictObject({
  id: z.string().min(1).max(256),
  by: author,
  notes: z
    .string()
    .max(64 * 1024)
    .optional(),
  /** The time of its nodes. */
  time: time.nullable(),
  steps: z.array(step).min(1).max(MAX_STEPS),
  /** The snapshot it made. */
  snapshot: z.strictObject({ cycle: count, tree: sha256, thread: sha256 }).optional(),
  /** What it was in the history it comes from: for readers only, never used. */
  origin: z.strictObject({ seq: count, branchId: count, at: time }),
});

/** A branch as an experiment: what was done, in order, and what must come of it when it is done again. */
const experiment = z.strictObject({
  format: z.literal(EXPERIMENT_FORMAT),
  origin: z.strictObject({
    history: name,
    name: z.string().max(600).nullable(),
    branch: name,
    position: name,
    source: z.strictObject({ format: z.string().max(600), sha256: z.string().max(600) }).nullable(),
  }),
  configuration: z.record(z.string().max(600), json),
  seeds: z.record(z.string().max(600), json),
  commands: z.array(command).min(1).max(MAX_COMMANDS),
  /** Hashes of the tree and the thread at the end, committed or not. */
  end: z.strictObject({ tree: sha256, thread: sha256 }),
  /** Names and notes that belong to positions outside of the branch, in words. */
  left_out: z.array(z.string().max(2_000)).max(100_000),
});

export type Experiment = z.infer<typeof experiment>;
export type ExperimentCommand = z.infer<typeof command>;

/** @throws E_EXPERIMENT_INVALID with the place of the first fault */
export const checkExperiment = (value: WideJson): Experiment => {
  const parsed = experiment.safeParse(value);
  if (parsed.success) return parsed.data;
  const { at, sentence } = issueText(parsed.error.issues, 'the file');
  throw fail('E_EXPERIMENT_INVALID', sentence, { at });
};
