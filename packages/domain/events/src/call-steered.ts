import { z } from 'zod';
import { count, id, payloadValue } from './node-shape.ts';
import { RecordedBody } from './recorded-body.ts';

/** How an observer's change shows in a request that went out; `lost`: the agent changed the same message. */
export const STEERINGS = ['inserted', 'replaced', 'removed', 'lost'] as const;
export type SteeringKind = (typeof STEERINGS)[number];

/** A change of an observer to a node: `seq` is the frame of the intervention. */
export const SteeringChange = z.strictObject({ what: z.enum(STEERINGS), node: id, seq: count });
export type SteeringChange = z.infer<typeof SteeringChange>;

/**
 * A request went out with the changes of observers (calls §5), or, if `unsteered` says why, without them. The event of the
 * attempt, which comes before this one in the frame, has the request as it went; this one as it came. The payload holds
 * `data_own`, its own bytes.
 */
export const CallSteered = z.strictObject({
  type: z.literal('CallSteered'),
  attemptId: z.string().min(1),
  /** The body as it came; null: it went as it came, or is not recorded. */
  request: RecordedBody.nullable(),
  changes: z.array(SteeringChange),
  unsteered: z.string().nullable(),
  payload: z.record(z.string(), payloadValue),
});
