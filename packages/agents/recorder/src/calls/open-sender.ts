import { backOff } from '@stemma/errors';
import type { WaitingExchange } from '../spool/spool.ts';
import type { SendTimes } from './options.ts';
import type { SendOutcome } from './outcome.ts';
import type { CallPlatform } from './platform.ts';
import { withoutBodies } from './without-bodies.ts';

/** Sends an exchange to where it is recorded. It may throw: then it was not recorded. */
export type SendExchange = (id: string, json: string) => Promise<SendOutcome>;

/** Sends several in one request. @returns what became of the first of them, as far as the target got; none: it takes one at a time */
export type SendExchanges = (
  exchanges: readonly { readonly id: string; readonly json: string }[],
) => Promise<readonly SendOutcome[]>;

/** Sends what waits, in the order in which it came: one after the other, or several together where many wait. */
export type Sender = {
  add(waiting: WaitingExchange): void;
  readonly waiting: () => number;
  /** Tries now what would be tried later. */
  hurry(): void;
  /** Resolves when nothing waits, or when the time is over: then false. Keeps the process from ending meanwhile. */
  drained(milliseconds: number): Promise<boolean>;
  /** True if the target did not take what was last sent to it. */
  readonly isAway: () => boolean;
  close(): void;
};

/** Is told what became of what was sent. */
export type SendEvents = {
  /** @param warning why it is recorded elsewhere than it was asked */
  readonly recorded: (warning: string | null) => void;
  readonly refused: (reason: string) => void;
  readonly away: (reason: string) => void;
  readonly damaged: (reason: string) => void;
};

/** So often a target may fail on one exchange before the others go on without it. */
const MOST_FAULTS = 8;
/** So many exchanges, and bytes of them, go out together. A target that takes none together is asked again after so many. */
const [MOST_TOGETHER, MOST_BYTES] = [64, 4 * 1024 * 1024];

export const openSender = (
  { send, sendMany }: { readonly send: SendExchange; readonly sendMany?: SendExchanges | undefined },
  { first, longest }: SendTimes,
  later: CallPlatform['later'],
  events: SendEvents,
): Sender => {
  const queue: WaitingExchange[] = [];
  let whenEmpty: (() => void)[] = [];
  let cancelPause: (() => void) | undefined;
  let [isSending, isClosed, failed, faults] = [false, false, 0, 0];
  const closed = (): boolean => isClosed;
  /** So many go out alone next. */
  let alone = 0;

  const sendNext = async (next: WaitingExchange): Promise<boolean> => {
    let json: string;
    try {
      json = next.read();
    } catch (error) {
      next.setAside();
      events.damaged(textOf(error));
      return true;
    }
    let outcome = await send(next.id, json).catch(asAway);
    if (outcome.kind === 'too large') outcome = await send(next.id, withoutBodies(json)).catch(asAway);
    if (outcome.kind === 'too large') outcome = { kind: 'refused', reason: 'it is too large', erased: false };
    if (outcome.kind === 'away' && outcome.isFault === true && ++faults >= MOST_FAULTS)
      outcome = { kind: 'refused', reason: outcome.reason, erased: false };
    if (outcome.kind === 'away') {
      events.away(outcome.reason);
      return false;
    }
    settle(next, outcome);
    return true;
  };
  const settle = (next: WaitingExchange, outcome: Settled): void => {
    faults = 0;
    if (outcome.kind === 'recorded' || outcome.erased) next.remove();
    else next.setAside();
    if (outcome.kind === 'recorded') events.recorded(outcome.warning);
    else events.refused(outcome.reason);
  };
  /** The first of those that wait, as many as go out together; a damaged one goes alone. */
  const together = (): { readonly id: string; readonly json: string }[] => {
    const taken: { id: string; json: string }[] = [];
    let bytes = 0;
    for (const next of queue.slice(0, MOST_TOGETHER)) {
      bytes += next.size;
      if (bytes > MOST_BYTES) break;
      try {
        taken.push({ id: next.id, json: next.read() });
      } catch {
        break;
      }
    }
    return taken;
  };
  /** Sends several if several wait. @returns how many need not wait any more; 0: the first is to go alone */
  const sendSeveral = async (): Promise<number> => {
    // One that waited for a target that was away finds out whether it is back.
    if (sendMany === undefined || queue.length < 2 || failed > 0) return 0;
    if (alone > 0) {
      alone--;
      return 0;
    }
    const sent = together();
    if (sent.length < 2) return 0;
    const outcomes = await sendMany(sent).catch((error: unknown) => [asAway(error)]);
    if (outcomes.length === 0) alone = MOST_TOGETHER;
    let settled = 0;
    for (const outcome of outcomes) {
      const [next] = queue;
      if (next === undefined || (outcome.kind !== 'recorded' && outcome.kind !== 'refused')) break;
      settle(next, outcome);
      queue.shift();
      settled++;
    }
    return settled;
  };
  const run = async (): Promise<void> => {
    if (isSending || isClosed || cancelPause !== undefined) return;
    isSending = true;
    try {
      for (let next = queue[0]; next !== undefined; next = queue[0]) {
        if (closed()) return;
        if ((await sendSeveral()) > 0) {
          failed = 0;
          continue;
        }
        if (!(await sendNext(next))) {
          failed++;
          cancelPause = later(backOff(failed, { first, longest }), () => {
            cancelPause = undefined;
            void run();
          });
          return;
        }
        failed = 0;
        queue.shift();
      }
    } catch (error) {
      // The disk refused what was asked of it: the next try finds the file as it is.
      events.away(textOf(error));
      failed++;
      cancelPause = later(longest, () => {
        cancelPause = undefined;
        void run();
      });
    } finally {
      isSending = false;
    }
    if (queue.length > 0) return;
    for (const done of whenEmpty) done();
    whenEmpty = [];
  };
  const hurry = (): void => {
    cancelPause?.();
    cancelPause = undefined;
    void run();
  };
  return {
    add: (waiting) => {
      queue.push(waiting);
      void run();
    },
    waiting: () => queue.length,
    hurry,
    drained: async (milliseconds) => {
      if (queue.length === 0) return true;
      hurry();
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(false), milliseconds);
      whenEmpty.push(() => resolve(true));
      const done = await promise;
      clearTimeout(timer);
      return done;
    },
    isAway: () => failed > 0,
    close: () => {
      isClosed = true;
      cancelPause?.();
    },
  };
};

type Settled = Extract<SendOutcome, { readonly kind: 'recorded' | 'refused' }>;

const asAway = (error: unknown): SendOutcome => ({ kind: 'away', reason: textOf(error) });

/** What an error says; of one without words, its code: connections that several addresses refuse have no message. */
export const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return error.message === '' ? code : error.message;
};
