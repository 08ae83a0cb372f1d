import { fail } from '@stemma/errors';
import { ZERO_HASH } from '../envelope.ts';
import type { EventLog } from '../port.ts';
import { sameBytes } from '../record.ts';
import { takeIn, type Line } from './line.ts';
import { scanHead, type Tail } from './tail.ts';
import type { WriterOptions } from './types.ts';

/** The lines of one partition: the histories it was lately written to, the least lately used given up first. */
export type Lines<C> = {
  /** The line of a history, at exactly where the tail stands. Loads it if it is not at hand. */
  readonly at: (history: string) => Promise<Line<C>>;
  readonly known: (history: string) => Line<C> | undefined;
  readonly drop: (history: string) => void;
};

/** @param readOn brings the tail to the end of the log. */
export const openLines = <C>(
  log: EventLog,
  tail: Tail,
  readOn: () => Promise<void>,
  { domain, contents, sessions = 64 }: WriterOptions<C>,
): Lines<C> => {
  const lines = new Map<string, Line<C>>();
  const { partition } = tail.standing().cursor;

  const drop = (history: string): void => {
    lines.delete(history);
    tail.forget(history);
  };
  const makeRoom = (): void => {
    for (const [history, line] of lines) {
      if (lines.size < sessions) return;
      if (line.sent.length === 0) drop(history);
    }
  };
  const load = async (history: string): Promise<Line<C>> => {
    const { asOf, heads } = await domain.heads(partition, [history]);
    const session = await domain.load(history);
    const line: Line<C> = { history, session, sent: [], stopped: null };
    const start = heads.get(history);
    const end = tail.standing().cursor.offset;
    const head = (await scanHead(log, partition, history, start, asOf, end, async ({ accepted }) => {
      for (const frame of accepted) await takeIn(line, frame, contents);
    })) ?? { next: 0, prev: ZERO_HASH, state: 'open' as const, stopped: null };
    makeRoom();
    tail.follow(history, head, asOf);
    lines.set(history, line);
    return line;
  };

  const at = async (history: string): Promise<Line<C>> => {
    for (let tries = 0; tries < 5; tries++) {
      const line = lines.get(history) ?? (await load(history));
      lines.delete(history);
      lines.set(history, line);
      const head = tail.head(history);
      if (head && head.state !== 'open') return { ...line, stopped: head.state };
      if (line.stopped) return line;
      if (head && fits(line, head)) return line;
      if (line.sent.length > 0) break;
      // The rows were read at two moments, or are further than the tail.
      drop(history);
      await readOn();
    }
    throw fail('E_BUSY', `the rows of ${history} do not come to rest`);
  };
  return { at, known: (history) => lines.get(history), drop };
};

const fits = <C>({ session, sent }: Line<C>, head: { next: number; prev: Uint8Array }): boolean => {
  const [first] = sent;
  const base = first ? first.frame.envelope : { seq: session.next, prev: session.prev };
  return base.seq === head.next && sameBytes(base.prev, head.prev);
};
