import { z } from 'zod';
import { CALL_APIS } from './call-apis.ts';
import { count } from './node-shape.ts';

/** What becomes of a held call that nobody releases. */
export const AFTER_TIMEOUT = ['go-on', 'abort'] as const;
export type AfterTimeout = (typeof AFTER_TIMEOUT)[number];

/**
 * A call waits before it goes out (calls §5): the position (`branchId`, `seq`) shows what the model would be shown. It waits
 * for a `CallReleased`, and at most until `until`.
 */
export const CallHeld = z.strictObject({
  type: z.literal('CallHeld'),
  attemptId: z.string().min(1),
  branchId: count,
  seq: count,
  cycle: count,
  api: z.enum(CALL_APIS),
  model: z.string().nullable(),
  /** The names of the breakpoints whose conditions are true. */
  breakpoints: z.array(z.string().min(1)),
  /** Milliseconds since 1970. */
  until: count,
  then: z.enum(AFTER_TIMEOUT),
});
