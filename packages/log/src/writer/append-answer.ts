import { isStemmaError, StemmaError } from '@stemma/errors';
import type { EntryOffset, LogRecord } from '../port.ts';
import type { SentFrame } from './history-session.ts';
import type { Intent } from './types.ts';

/* What the log's answer to an append shows about the frames that were sent (record §3). */

/** True if the records follow each other without a gap from `from`: no other writer's record is between them. */
export const followsDirectly = (placed: readonly EntryOffset[], from: number): boolean =>
  placed.every(({ offset }, i) => offset === (i === 0 ? from : placed[i - 1]?.next));

/** A record of this writer as a reader would get it. */
export const asRead = <C>({ frame, record }: SentFrame<C>, { offset, next }: EntryOffset): LogRecord => ({
  offset,
  next,
  key: frame.envelope.history,
  bytes: record,
  keyVouched: true,
  damaged: false,
});

/** True if a failed append with this error has written nothing. */
export const wroteNothing = (error: unknown): boolean =>
  isStemmaError(error) &&
  (error.code === 'E_LOG_BUSY' || error.code === 'E_LOG_CLOSED' || error.detail['written'] === false);

/** The error for a command when the log does not say whether it was accepted. */
export const outcomeUnknown = <C>({ id, history }: Intent<C>, cause: unknown): Error =>
  new StemmaError(
    'E_OUTCOME_UNKNOWN',
    `the log does not tell what became of the command ${id}`,
    { history, command: id },
    { cause },
  );
