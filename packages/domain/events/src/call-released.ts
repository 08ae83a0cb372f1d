import { z } from 'zod';

/**
 * How a held call was released: by an actor, who let it go on, perhaps after changes to its branch, or ended it; when its
 * time was over; since its client was gone; or since the process was that held it (`lost`).
 */
export const RELEASES = ['resumed', 'edited', 'aborted', 'timed out', 'cancelled', 'lost'] as const;
export type Release = (typeof RELEASES)[number];

/** A held call waits no longer (calls §5). The command that records it has the attempt's id with `.released` behind it. */
export const CallReleased = z.strictObject({
  type: z.literal('CallReleased'),
  attemptId: z.string().min(1),
  how: z.enum(RELEASES),
  /** What its client is told, if it was aborted. */
  message: z.string().nullable(),
});
