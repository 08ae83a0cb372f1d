import { fail } from '@stemma/errors';
import { ZERO_HASH } from '../envelope.ts';
import type { EventLog } from '../port.ts';
import { sameBytes } from '../record.ts';
import { observe, type HistorySession } from './history-session.ts';
import type { PartitionReader } from './partition-reader.ts';
import { scanHead } from './scan-head.ts';
import type { WriterOptions } from './types.ts';

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
export const openSessionCache = <C>(
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
