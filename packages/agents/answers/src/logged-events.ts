import { fromWireJson, toWireJson, type LoggedEventAnswer, type StreamedEvent } from '@stemma/api';
import type { LoggedEvent } from '@stemma/queries';

const STREAMED_CHARACTERS = 16 * 1024;

const eventFields = (one: LoggedEvent): Omit<LoggedEventAnswer, 'event'> => ({
  history: one.history,
  branch: one.branch,
  branchId: one.branchId,
  seq: one.seq,
  index: one.index,
  command: one.command,
  at: one.at,
  author: one.author,
});

/** An accepted event as the API gives it: bytes in it are hex when it is written. */
export const loggedAnswer = (one: LoggedEvent): LoggedEventAnswer => ({
  ...eventFields(one),
  event: one.event,
});

/** An accepted event as the live stream gives it: one that is large is left out. */
export const streamedAnswer = (one: LoggedEvent): StreamedEvent => {
  const text = toWireJson(one.event);
  return {
    ...eventFields(one),
    type: one.event.type,
    event: text.length > STREAMED_CHARACTERS ? null : fromWireJson(text),
  };
};
