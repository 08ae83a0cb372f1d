import { fail, isStemmaError } from '@stemma/errors';
import { isDefect } from '../body.ts';
import { ZERO_HASH } from '../envelope.ts';
import type { EventLog, LogRecord } from '../port.ts';
import { refuseUnreadable } from '../read-back.ts';
import { readFrame, type ContentSource } from '../read-frame.ts';
import type { AcceptedFrame } from '../reading-types.ts';
import { sameBytes } from '../record.ts';
import { openPartitionReader, refuseUnwritable, scanHead, type PartitionReader } from './partition-reader.ts';
import { confirm, retry, type PendingCommands } from './pending-commands.ts';
import type { SentFrame, Session, WriterOptions } from './types.ts';

/** What a writer knows of a partition as of the reader's checkpoint. */
export type OpenPartition<C> = {
  readonly reader: PartitionReader;
  readonly sessions: SessionCache<C>;
  readonly contents: ContentSource;
  readonly commands: PendingCommands<C>;
};

/**
 * The partition, read to the end of the log. It is opened again if the reader of `known` does not hold, or if damage
 * closes it, which may have been acknowledged meanwhile.
 *
 * @throws E_PARTITION_CLOSED, E_VERSION_NEEDED, E_CURSOR_LOST
 */
export const openOrCatchUp = async <C>(
  log: EventLog,
  commands: PendingCommands<C>,
  options: WriterOptions<C>,
  known: OpenPartition<C> | null,
): Promise<OpenPartition<C>> => {
  if (known && !known.reader.closed()) {
    if (!known.reader.holds()) await readOn(known);
    return known;
  }
  const reader = await openPartitionReader(log, options.domain, commands.partition);
  const sessions: SessionCache<C> = openSessionCache(log, reader, () => readOn(partition), options);
  const partition: OpenPartition<C> = { reader, sessions, contents: options.contents, commands };
  await readOn(partition);
  refuseUnwritable(reader.checkpoint());
  return partition;
};

/** Reads to the end of the log and applies the new records. True if there were any. */
export const readOn = async <C>(partition: OpenPartition<C>): Promise<boolean> => {
  const { reader } = partition;
  const before = reader.checkpoint().cursor.offset;
  for (;;) {
    const records = await reader.read();
    if (records.length === 0 || reader.closed()) return reader.checkpoint().cursor.offset !== before;
    await takeIn(partition, records);
  }
};

/** Like {@link readOn}; a log that cannot be read just now counts as one without new records. */
export const tryReadingOn = async <C>(partition: OpenPartition<C>): Promise<void> => {
  const before = partition.reader.checkpoint().cursor.offset;
  try {
    await readOn(partition);
  } catch (error) {
    const moved = partition.reader.checkpoint().cursor.offset !== before;
    if (moved || isStemmaError(error, 'E_CURSOR_LOST')) throw error;
  }
};

/** Gives accepted frames to the sessions of their histories, and answers commands whose outcome they show. */
export const takeIn = async <C>(
  { reader, sessions, contents, commands }: OpenPartition<C>,
  records: readonly LogRecord[],
): Promise<void> => {
  for (const frame of (await reader.check(records)).accepted) {
    const { history } = frame.envelope;
    const session = sessions.get(history);
    if (!session) continue;
    const { confirmed, overtaken } = await observe(session, frame, contents);
    if (confirmed) confirm(commands, confirmed, frame);
    if (overtaken.length > 0) retry(commands, history, overtaken);
  }
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
const observe = async <C>(
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

/**
 * The sessions of the histories that were written to lately, in one partition. The least recently used is evicted
 * first.
 */
export type SessionCache<C> = {
  /** The session of a history at exactly the reader's checkpoint. Loads it if it is not cached. */
  readonly load: (history: string) => Promise<HistorySession<C>>;
  /** The session of a history if it is cached. */
  readonly get: (history: string) => HistorySession<C> | undefined;
  readonly evict: (history: string) => void;
};

/** A cache for one partition. @param readOn brings the reader to the end of the log. */
const openSessionCache = <C>(
  log: EventLog,
  reader: PartitionReader,
  readOn: () => Promise<unknown>,
  { domain, contents, sessions: capacity = 64 }: WriterOptions<C>,
): SessionCache<C> => {
  // Not `lru-cache`: a session with frames under way must not go, and the library has no entry that is never evicted.
  const sessions = new Map<string, HistorySession<C>>();
  const { partition } = reader.checkpoint().cursor;

  const evict = (history: string): void => {
    sessions.delete(history);
    reader.forget(history);
  };
  const makeRoom = (): void => {
    for (const [history, { sent }] of sessions) {
      if (sessions.size < capacity) return;
      if (sent.length === 0) evict(history);
    }
  };
  const loadNew = async (history: string): Promise<HistorySession<C>> => {
    const known = await domain.frames?.(history);
    if (known) await refuseUnreadable(log, partition, history, known);
    const { asOf, heads } = await domain.heads(partition, [history]);
    const session: HistorySession<C> = {
      history,
      session: await domain.load(history),
      sent: [],
      stopped: null,
    };
    const start = heads.get(history);
    const end = reader.checkpoint().cursor.offset;
    const head = (await scanHead(log, partition, history, start, asOf, end, async ({ accepted }) => {
      for (const frame of accepted) await observe(session, frame, contents);
    })) ?? { next: 0, prev: ZERO_HASH, state: 'open' as const, stopped: null };
    makeRoom();
    reader.follow(history, head, asOf);
    sessions.set(history, session);
    return session;
  };

  const load = async (history: string): Promise<HistorySession<C>> => {
    for (let tries = 0; tries < 5; tries++) {
      const session = sessions.get(history) ?? (await loadNew(history));
      // Inserted last: it is now the most recently used.
      sessions.delete(history);
      sessions.set(history, session);
      const head = reader.head(history);
      if (head && head.state !== 'open') return { ...session, stopped: head.state };
      if (session.stopped) return session;
      if (head && continues(session, head)) return session;
      if (session.sent.length > 0) break;
      // The rows were read at two moments, or are ahead of the reader.
      evict(history);
      await readOn();
    }
    throw fail('E_BUSY', `the rows of ${history} do not stop changing`);
  };
  return { load, get: (history) => sessions.get(history), evict };
};

const continues = <C>(
  { session, sent }: HistorySession<C>,
  head: { next: number; prev: Uint8Array },
): boolean => {
  const [oldest] = sent;
  const base = oldest ? oldest.frame.envelope : { seq: session.next, prev: session.prev };
  return base.seq === head.next && sameBytes(base.prev, head.prev);
};
