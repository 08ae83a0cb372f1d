import { z } from 'zod';

/**
 * The key of an erasable history is destroyed: none of its frames but this one can be read again. The reason is the
 * intervention's. It is the last frame of its history, and never sealed itself.
 */
export const HistoryErased = z.strictObject({ type: z.literal('HistoryErased') });
