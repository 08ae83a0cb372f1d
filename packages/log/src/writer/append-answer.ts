import { isStemmaError, StemmaError } from '@stemma/errors';
import type { EntryOffset, LogRecord } from '../port.ts';
import type { SentFrame } from './history-session.ts';
import type { Intent } from './types.ts';

/* What the answer of a log to an append says of the frames that were sent (record §3). */

/** True if the records lie one behind the other, the first at `from`: no record of another writer is between them. */
export const followsDirectly = (placed: readonly EntryOffset[], from: number): boolean =>
  placed.every(({ offset }, i) => offset === (i === 0 ? from : placed[i - 1]?.next));

/** An own record as a reader is given it. */
export const asRead = <C>({ frame, record }: SentFrame<C>, { offset, next }: EntryOffset): LogRecord => ({
  offset,
  next,
  key: frame.envelope.history,
  bytes: record,
  damaged: false,
});

/** True if an append that failed with this error has written nothing. */
export const wroteNothing = (error: unknown): boolean =>
  isStemmaError(error) &&
  (error.code === 'E_LOG_BUSY' || error.code === 'E_LOG_CLOSED' || error.detail['written'] === false);

/** The one honest answer when the log does not say whether a command was accepted. */
export const outcomeUnknown = <C>({ id, history }: Intent<C>, cause: unknown): Error =>
  new StemmaError(
    'E_OUTCOME_UNKNOWN',
    `the log does not tell what became of the command ${id}`,
    { history, command: id },
    { cause },
  );
