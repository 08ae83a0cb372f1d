import { StemmaError } from '@stemma/errors';
import type { LogRecord, Placed } from '../port.ts';
import type { Sent } from './line.ts';
import type { Intent } from './types.ts';

/** True if records lie one behind the other, the first at `from`: nothing of anybody else is between (record §3). */
export const follows = (placed: readonly Placed[], from: number): boolean =>
  placed.every(({ offset }, i) => offset === (i === 0 ? from : placed[i - 1]?.next));

/** An own record as a reader would be given it. */
export const asRead = <C>({ frame, record }: Sent<C>, { offset, next }: Placed): LogRecord => ({
  offset,
  next,
  key: frame.envelope.history,
  bytes: record,
  damaged: false,
});

/** The one honest answer when the log does not tell. */
export const unknown = <C>({ id, history }: Intent<C>, cause: unknown): Error =>
  new StemmaError(
    'E_OUTCOME_UNKNOWN',
    `the log does not tell what became of the command ${id}`,
    { history, command: id },
    { cause },
  );
