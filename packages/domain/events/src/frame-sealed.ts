import { z } from 'zod';

/**
 * The frame of an erasable history as it is stored: author, command, digest and events are encrypted, and the body holds
 * nothing in their place. Readers that have the key of the history never see this event but what it holds.
 */
export const FrameSealed = z.strictObject({
  type: z.literal('FrameSealed'),
  payload: z.strictObject({
    /** Base64 of the nonce (12 bytes), the tag (16 bytes) and the ciphertext: AES-256-GCM. */
    content: z.string().min(1),
  }),
});
