import { z } from 'zod';

/** A history has a label: `task` = `refund`. A later one of the same key stands instead of it. */
export const HistoryLabelled = z.strictObject({
  type: z.literal('HistoryLabelled'),
  label: z.string(),
  /** Null: the label is taken away. */
  value: z.string().nullable(),
});
