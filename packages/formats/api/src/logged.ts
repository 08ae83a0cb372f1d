import { z } from 'zod';
import { anyJson, author, count, milliseconds } from './values.ts';

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

/** Events of a history, oldest first. `next`: the frame to go on from; null: there are no more. */
export const EventPage = z
  .strictObject({ history: z.string(), events: z.array(LoggedEventAnswer), next: count.nullable() })
  .meta({ id: 'EventPage' });
export type EventPage = z.infer<typeof EventPage>;

/**
 * What the live stream says of one event: enough to know what to read again. `event` is left out above 16 KiB of JSON;
 * `GET …/events?from=SEQ` has it.
 */
export const StreamedEvent = LoggedEventAnswer.omit({ event: true })
  .extend({ type: z.string(), event: anyJson.nullable() })
  .meta({ id: 'StreamedEvent' });
export type StreamedEvent = z.infer<typeof StreamedEvent>;

/** The data of one message `event: events` of the stream; its `id` is the cursor to resume from. */
export const StreamMessage = z.strictObject({ events: z.array(StreamedEvent) }).meta({ id: 'StreamMessage' });
export type StreamMessage = z.infer<typeof StreamMessage>;
