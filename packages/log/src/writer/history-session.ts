import { isStemmaError } from '@stemma/errors';
import { isDefect } from '../body.ts';
import { readFrame, type ContentSource } from '../read-frame.ts';
import type { AcceptedFrame } from '../reading-types.ts';
import { sameBytes } from '../record.ts';
import type { Frame } from '@stemma/events';
import type { Accepted, Intent, Session } from './types.ts';

/** A command on its way. */
export type Task<C> = {
  readonly intent: Intent<C>;
  readonly resolve: (answer: Accepted) => void;
  readonly reject: (error: unknown) => void;
  /** How often others were first. */
  tries: number;
};

/** A frame that was decided and given to the log, and whose outcome is not known yet. */
export type Sent<C> = {
  readonly task: Task<C>;
  readonly frame: Frame;
  readonly hash: Uint8Array;
  /** The record, to be sent again as it is. */
  readonly record: Uint8Array;
};

/** A history that the writer has at hand: its decision state, ahead of the log by the frames in `sent`. */
export type Line<C> = {
  readonly history: string;
  readonly session: Session<C>;
  readonly sent: Sent<C>[];
  /** Why nothing is written to it any more. */
  stopped: 'damaged' | 'defective' | null;
};

/** What an accepted frame meant for a line. */
export type Seen<C> = { readonly confirmed: Sent<C> | null; readonly overtaken: readonly Sent<C>[] };

const NOTHING = { confirmed: null, overtaken: [] } as const;

/** Takes in an accepted frame: the line's own oldest, or another's, in whose favour what was sent ahead is taken back. */
export const takeIn = async <C>(
  line: Line<C>,
  frame: AcceptedFrame,
  contents: ContentSource,
): Promise<Seen<C>> => {
  const [first] = line.sent;
  if (first && frame.envelope.seq === first.frame.envelope.seq && sameBytes(frame.hash, first.hash)) {
    line.sent.shift();
    return { confirmed: first, overtaken: [] };
  }
  const base = first ? first.frame.envelope.seq : line.session.next;
  if (frame.envelope.seq < base) return NOTHING;
  const overtaken = await takeBack(line);
  await applyOther(line, frame, contents);
  return { confirmed: null, overtaken };
};

/** Takes back everything that was sent ahead; gives it in the order it was sent. */
export const takeBack = async <C>(line: Line<C>): Promise<readonly Sent<C>[]> => {
  for (let i = line.sent.length; i > 0; i--) await line.session.undo();
  return line.sent.splice(0);
};

const applyOther = async <C>(line: Line<C>, frame: AcceptedFrame, contents: ContentSource): Promise<void> => {
  try {
    await line.session.apply(await readFrame(frame, contents), new Uint8Array(frame.hash));
  } catch (error) {
    if (!isDefect(error)) throw error;
    line.stopped = 'defective';
  }
};

/** True if an append that failed with this error has written nothing. */
export const wroteNothing = (error: unknown): boolean =>
  isStemmaError(error) &&
  (error.code === 'E_LOG_BUSY' || error.code === 'E_LOG_CLOSED' || error.detail['written'] === false);
