import { fail } from '@stemma/errors';
import { type Body, type Frame, versionOfFrame } from '@stemma/events';
import { RecentMap } from '@stemma/values';
import { encodeFrame, isDefect, isReadAs } from '../body.ts';
import { decodeEnvelope, ZERO_HASH } from '../envelope.ts';
import type { CheckedRecords } from '../check-records.ts';
import type { HeadState } from '../checkpoint.ts';
import { openEvictionOrder } from '../eviction-order.ts';
import type { EventLog } from '../port.ts';
import { FROM_START, refuseUnreadable, type ReadBack } from '../read-back.ts';
import { readFrame, type ContentSource } from '../read-frame.ts';
import type { AcceptedFrame } from '../reading-types.ts';
import { HASH_BYTES, sameBytes, sealRecord } from '../record.ts';
import { sealBody } from '../sealing.ts';
import { headOver, scanHead, type PartitionReader } from './partition-reader.ts';
import type { Decision, SentFrame, Session, Task, WriterOptions } from './types.ts';

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

/** The sessions of the histories that were written to lately, in one partition, as many as there is room for. */
export type SessionCache<C> = {
  /** The session of a history at exactly the reader's checkpoint. Loads it if it is not cached. */
  readonly load: (history: string) => Promise<HistorySession<C>>;
  /** The session of a history if it is cached. */
  readonly get: (history: string) => HistorySession<C> | undefined;
  /** The session has decided a command, for which it may have read much: others are evicted while all take too much. */
  readonly used: (history: string) => void;
  readonly evict: (history: string) => void;
};

/**
 * When so many histories may have frames that the rows had not when they were written, the rows are asked for the half of them
 * that were used first, together. A session itself asks only after more frames: short conversations would keep all that they have
 * until they are evicted.
 */
const MANY_AHEAD = 128;

/**
 * Sessions that nobody used for so many milliseconds leave, while all together take more than so many bytes. To load one again takes
 * less than a millisecond; those of finished conversations would fill whatever room there is.
 */
const IDLE = 5_000;
const IDLE_BYTES = 24 * 1024 * 1024;

/** Of so many histories evicted last, and at most twice as many, it is kept how far they were read; about 400 bytes each. */
const READ_BACK = 5_000;

/** A cache for one partition. @param readOn brings the reader to the end of the log. */
export const openSessionCache = <C>(
  log: EventLog,
  reader: PartitionReader,
  readOn: () => Promise<unknown>,
  { domain, contents, now, sessionBytes = 128 * 1024 * 1024 }: WriterOptions<C>,
): SessionCache<C> => {
  const sessions = new Map<string, HistorySession<C>>();
  // One with frames under way must not go.
  const capacity = Math.ceil(sessionBytes / log.partitions);
  const order = openEvictionOrder(capacity, (history) => (sessions.get(history)?.sent.length ?? 0) > 0);
  const { partition } = reader.checkpoint().cursor;

  /** The frames of evicted histories that were read or written here, by history. */
  const readBack = new RecentMap<string, ReadBack>(READ_BACK);
  /** Histories that the rows may not have whole, the last one used at the end. */
  const ahead = new Set<string>();
  /** Commands since the rows were asked: if they stay behind, they are not asked at each. */
  let since = 0;
  /** Tells the sessions that were used first what the rows have of them. */
  const askRows = async (): Promise<void> => {
    since = 0;
    const oldest = [...ahead].slice(0, MANY_AHEAD / 2);
    // Who needs rows that cannot be read meets the error; until then the sessions keep what they have.
    const read = await attempt(() => domain.heads(partition, oldest));
    for (const history of oldest) {
      ahead.delete(history);
      tellSession(history, read?.heads.get(history));
    }
  };
  const tellSession = (history: string, head: HeadState | undefined): void => {
    const known = sessions.get(history);
    if (known === undefined) return;
    const { session, sent } = known;
    if (head !== undefined && sent.length === 0) {
      session.rowsHave?.(head);
      order.resize(history, session.bytes);
    }
    if ((head?.next ?? 0) < session.next) ahead.add(history);
  };
  const drop = (history: string): void => {
    sessions.delete(history);
    ahead.delete(history);
    reader.forget(history);
  };
  const evict = (history: string): void => {
    drop(history);
    order.forget(history);
  };
  /** Drops a session without frames under way: what it has of the log is not read back again. */
  const dropIdle = (history: string): void => {
    const { next, prev } = (sessions.get(history) as HistorySession<C>).session;
    drop(history);
    readBack.set(history, { next, prev });
  };
  const used = (history: string): void => {
    const known = sessions.get(history);
    if (known === undefined) return;
    const at = now();
    for (const other of order.use(history, known.session.bytes, at)) dropIdle(other);
    for (const other of order.leaveUnused(at - IDLE, Math.min(IDLE_BYTES, capacity))) dropIdle(other);
  };
  /** The head of a history at the checkpoint, from that of the rows; `take` gets the frames between. */
  const headSince = async (
    history: string,
    head: HeadState | undefined,
    asOf: number,
    take: (batch: CheckedRecords) => Promise<void>,
  ): Promise<HeadState | undefined> => {
    const recent = reader.recent(history, asOf);
    return recent === undefined
      ? scanHead(log, partition, history, head, asOf, reader.checkpoint().cursor.offset, take)
      : headOver(log, partition, history, head, recent, take);
  };
  const loadNew = async (history: string): Promise<HistorySession<C>> => {
    const since = readBack.peek(history) ?? FROM_START;
    const loaded = await domain.load(history, since.next);
    const { known } = loaded;
    if (known !== null) await refuseUnreadable(log, partition, history, known, { since, contents });
    const { asOf } = loaded.session;
    const session: HistorySession<C> = { history, session: loaded.session, sent: [], stopped: null };
    const take = async ({ accepted }: CheckedRecords): Promise<void> => {
      for (const frame of accepted) await observe(session, frame, contents);
    };
    const head = (await headSince(history, loaded.head, asOf, take)) ?? {
      next: 0,
      prev: ZERO_HASH,
      state: 'open' as const,
      stopped: null,
    };
    reader.follow(history, head, asOf);
    sessions.set(history, session);
    return session;
  };

  const load = async (history: string): Promise<HistorySession<C>> => {
    if (ahead.size >= MANY_AHEAD && ++since >= MANY_AHEAD / 2) await askRows();
    for (let tries = 0; tries < 5; tries++) {
      const session = sessions.get(history) ?? (await loadNew(history));
      ahead.delete(history);
      ahead.add(history);
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
  return { load, get: (history) => sessions.get(history), used, evict };
};

/** Undefined if it throws. */
const attempt = async <T>(act: () => Promise<T> | T): Promise<T | undefined> => {
  try {
    return await act();
  } catch {
    return undefined;
  }
};

const continues = <C>(
  { session, sent }: HistorySession<C>,
  head: { next: number; prev: Uint8Array },
): boolean => {
  const [oldest] = sent;
  const base = oldest ? oldest.frame.envelope : { seq: session.next, prev: session.prev };
  return base.seq === head.next && sameBytes(base.prev, head.prev);
};

/**
 * The result of preparing a command: a frame to send, or the `seq` at which it was accepted before. `later`: the answer
 * depends on frames without a known outcome, so the command is prepared again when they have one.
 */
export type Prepared<C> =
  | { readonly kind: 'sent'; readonly sent: SentFrame<C> }
  | { readonly kind: 'repeated'; readonly seq: number; readonly frame: Frame | null }
  | { readonly kind: 'refused'; readonly error: unknown }
  | { readonly kind: 'later' };

/** Decides a command, encodes it, checks that every reader reads those bytes as that, and applies them (record §3). */
export const prepare = async <C>(
  session: HistorySession<C>,
  task: Task<C>,
  options: Pick<WriterOptions<C>, 'contents' | 'decoded'>,
): Promise<Prepared<C>> => {
  try {
    refuseStopped(session);
    const decided = await session.session.decide(task.intent);
    if ('repeats' in decided) {
      if (session.sent.length > 0) return { kind: 'later' };
      return { kind: 'repeated', seq: decided.repeats, frame: decided.frame };
    }
    return { kind: 'sent', sent: await encode(session, task, decided, options) };
  } catch (error) {
    return session.sent.length > 0 ? { kind: 'later' } : { kind: 'refused', error };
  }
};

const encode = async <C>(
  { session, history }: HistorySession<C>,
  task: Task<C>,
  { author, at, branchId, events }: Decision,
  { contents, decoded }: Pick<WriterOptions<C>, 'contents' | 'decoded'>,
): Promise<SentFrame<C>> => {
  const { id, digest } = task.intent;
  const envelope = { v: versionOfFrame(events), history, seq: session.next, prev: session.prev };
  const body: Body = { ...author, at, command: id, digest, branchId, events };
  const stored = sealBody(envelope, body, contents.sealer);
  const encoded = encodeFrame(envelope, stored);
  const record = sealRecord(encoded.bytes);
  for (const { bytes } of encoded.contents) await contents.put(bytes);
  const own = decodeEnvelope(encoded.bytes);
  if (!own) throw fail('E_INTERNAL', `the frame ${history} ${session.next} does not decode`);
  const known = new Map(encoded.contents.map(({ ref, bytes }) => [ref.sha256, bytes]));
  const source: ContentSource = {
    get: async (ref) => known.get(ref.sha256) ?? (await contents.get(ref)),
    sealer: contents.sealer,
  };
  const frame =
    stored === body && isReadAs(encoded, own.envelope.v, own.bodyAt, body)
      ? { envelope: own.envelope, body }
      : await readFrame({ envelope: own.envelope, bytes: encoded.bytes, bodyAt: own.bodyAt }, source);
  // Its own bytes: a view of the record would keep all of it for as long as the history is known.
  const hash = record.slice(record.length - HASH_BYTES);
  await session.apply(frame, hash);
  // A sealed frame is read with its key only, and contents may be lost: both are looked up again.
  if (stored === body && encoded.contents.length === 0) decoded?.keep(frame, hash, record.length);
  return { task, frame, hash, record, bodyAt: own.bodyAt };
};

const refuseStopped = <C>({ history, stopped }: HistorySession<C>): void => {
  if (stopped === 'damaged')
    throw fail('E_HISTORY_DAMAGED', `the history ${history} is damaged`, { history });
  if (stopped === 'defective')
    throw fail('E_HISTORY_DEFECTIVE', `the history ${history} is defective`, { history });
};
