import { z } from 'zod';
import { author, count, milliseconds } from './values.ts';

/** An accepted event. What `event` holds beside its `type` is in docs/formats/; bytes in it are hex. */
export const LoggedEventAnswer = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    seq: count,
    index: count,
    command: z.string(),
    at: milliseconds,
    author,
    event: z.looseObject({ type: z.string() }),
  })
  .meta({ id: 'LoggedEvent' });
export type LoggedEventAnswer = z.infer<typeof LoggedEventAnswer>;
