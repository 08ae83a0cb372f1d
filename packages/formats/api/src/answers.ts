import { z } from 'zod';
import { PositionAnswer } from './summaries.ts';
import { anyJson, count } from './values.ts';

/** Ids in document order (context-tree §6). */
export const Selection = z
  .strictObject({ position: PositionAnswer, ids: z.array(z.string()) })
  .meta({ id: 'Selection' });
export type Selection = z.infer<typeof Selection>;

/** Exactly what context-tree §7 says a diff is. */
export const Diff = z
  .strictObject({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(z.strictObject({ id: z.string(), fields: z.array(z.string()) })),
  })
  .meta({ id: 'Diff' });
export type Diff = z.infer<typeof Diff>;

export const Stats = z.record(z.string(), anyJson).meta({ id: 'Stats' });
export type Stats = z.infer<typeof Stats>;

/** Which histories cannot be served as far as they go. `stemma verify` reads every record and says where and why. */
export const VerifyStatus = z
  .strictObject({
    ok: z.boolean(),
    histories: count,
    damaged: z.array(z.string()),
    defective: z.array(z.string()),
  })
  .meta({ id: 'VerifyStatus' });
export type VerifyStatus = z.infer<typeof VerifyStatus>;

/** What `stemma checkpoint` prints: to keep where nobody can change it together with the log. */
export const SignedCheckpoint = z
  .strictObject({
    log: z.string().describe('the id of the log'),
    publicKey: z.string().describe('the key that checks the signatures: keep it apart from the checkpoint'),
    partitions: z.array(z.strictObject({ partition: count, size: count, root: z.base64() })),
    checkpoint: z.string().describe('signed notes, one for each partition'),
  })
  .meta({ id: 'SignedCheckpoint' });

export const Health = z.strictObject({ status: z.enum(['ok', 'ready', 'unready']) }).meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;

/** A service that can answer, and what its proxy has still to record. */
export const Readiness = z
  .strictObject({
    status: z.literal('ready'),
    recording: z
      .strictObject({
        calls: count.describe('calls, or ends of calls, that are not recorded yet'),
        bytes: count.describe('what they take in the journal, with calls whose end is still to come'),
        seconds: z.number().min(0).describe('how long the oldest of them has been waiting'),
      })
      .optional(),
  })
  .meta({ id: 'Readiness' });

/** Every error: a stable code, what was wrong, what would be right, facts for programs. */
export const ErrorAnswer = z
  .strictObject({
    error: z.strictObject({
      code: z.string(),
      message: z.string(),
      help: z.string(),
      detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    }),
  })
  .meta({ id: 'Error' });
export type ErrorAnswer = z.infer<typeof ErrorAnswer>;
