import { z } from 'zod';
import { count } from './node-shape.ts';

const some = count.optional();

/** So many of each name: `{"claude-x": 12}`. */
const namedCounts = z.record(z.string(), count).optional();

/** A time as an ISO text, in UTC. */
const time = z
  .string()
  .max(40)
  .regex(/^[+-]?\d{4,6}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/)
  .optional();

/** The counts of an import by the rules of imports §1 and §2. A key that is absent: the file says nothing of it. */
export const ImportSummary = z.strictObject({
  calls: some,
  /** Calls by the name of the model. */
  models: namedCounts,
  messages: some,
  messages_by_role: namedCounts,
  tool_calls: some,
  tool_results: some,
  tool_calls_without_result: some,
  tool_results_without_call: some,
  tool_errors: some,
  images: some,
  thinking: some,
  /** Tokens, summed over the calls that state them. */
  usage: z
    .strictObject({ input: some, output: some, cached_input: some, cache_write: some, reasoning: some })
    .optional(),
  branches: some,
  sidechains: some,
  compactions: some,
  aborted: some,
  /** The earliest and the latest time in the file. */
  first_at: time,
  last_at: time,
  /** How many calls are as true as what: byte for byte, every message, or put together from what the file has. */
  fidelity: z.strictObject({ exact: some, same: some, reconstructed: some }).optional(),
  /** What calls were shown or asked with and the file lacks: so many calls each. */
  missing: namedCounts,
  /** What stands in the file and is recorded nowhere, by its name there. */
  dropped: namedCounts,
  /** `first`: where in the file the first of them is. */
  warnings: z.array(z.strictObject({ code: z.string(), count, first: z.string() })).optional(),
});
export type ImportSummary = z.infer<typeof ImportSummary>;

/**
 * The history was imported from a file of another program, and this is what the file has: its counts, how true the calls are, what is
 * missing and what was dropped. It is the last frame of an import. A file that grew is imported on, and then the newest of these events
 * counts.
 */
export const ImportRecorded = z.strictObject({
  type: z.literal('ImportRecorded'),
  /** The name of the format: `claude-code`. */
  format: z.string().min(1),
  /** Of the program that wrote the file, or of the format, as the file says. */
  version: z.string().optional(),
  /** What a person would call the conversation. */
  title: z.string().optional(),
  /** By the rules of imports; an absent key: the file says nothing of it. */
  summary: ImportSummary,
});
