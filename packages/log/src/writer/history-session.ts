import type { Frame } from '@stemma/events';
import { isDefect } from '../body.ts';
import { readFrame, type ContentSource } from '../read-frame.ts';
import type { AcceptedFrame } from '../reading-types.ts';
import { sameBytes } from '../record.ts';
import type { Accepted, Intent, Session } from './types.ts';

/** A command that the writer has not answered yet. */
export type Task<C> = {
  readonly intent: Intent<C>;
  readonly resolve: (answer: Accepted) => void;
  readonly reject: (error: unknown) => void;
  /** How often another writer was first. */
  tries: number;
};

/** A frame that was decided and sent to the log, without a known outcome. */
export type SentFrame<C> = {
  readonly task: Task<C>;
  readonly frame: Frame;
  readonly hash: Uint8Array;
  /** The record, kept to be sent again unchanged. */
  readonly record: Uint8Array;
};

/** A history that the writer has loaded. Its decision state is ahead of the log by the frames in `sent`. */
export type HistorySession<C> = {
  readonly history: string;
  readonly session: Session<C>;
  readonly sent: SentFrame<C>[];
  /** Why the history takes no more frames. */
  stopped: 'damaged' | 'defective' | null;
};

/**
 * What an accepted frame shows about the frames that a session sent: the oldest is confirmed, or all were overtaken.
 */
export type Observed<C> = {
  readonly confirmed: SentFrame<C> | null;
  readonly overtaken: readonly SentFrame<C>[];
};

const NOTHING = { confirmed: null, overtaken: [] } as const;

/**
 * Takes an accepted frame into a session. If it is another writer's, all frames that the session sent are undone first;
 * else it confirms the oldest of them.
 */
export const observe = async <C>(
  session: HistorySession<C>,
  frame: AcceptedFrame,
  contents: ContentSource,
): Promise<Observed<C>> => {
  const [oldest] = session.sent;
  const { seq } = frame.envelope;
  if (oldest && seq === oldest.frame.envelope.seq && sameBytes(frame.hash, oldest.hash)) {
    session.sent.shift();
    return { confirmed: oldest, overtaken: [] };
  }
  if (seq < (oldest ? oldest.frame.envelope.seq : session.session.next)) return NOTHING;
  const overtaken = await takeBack(session);
  await applyOther(session, frame, contents);
  return { confirmed: null, overtaken };
};

/** Undoes all frames that were sent ahead; returns them in the order they were sent. */
export const takeBack = async <C>({ session, sent }: HistorySession<C>): Promise<readonly SentFrame<C>[]> => {
  for (let i = sent.length; i > 0; i--) await session.undo();
  return sent.splice(0);
};

const applyOther = async <C>(
  session: HistorySession<C>,
  frame: AcceptedFrame,
  contents: ContentSource,
): Promise<void> => {
  try {
    await session.session.apply(await readFrame(frame, contents), new Uint8Array(frame.hash));
  } catch (error) {
    if (!isDefect(error)) throw error;
    session.stopped = 'defective';
  }
};
