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

/** How exchanges are sent: one, or several in one request. */
type Senders = { readonly send: SendExchange; readonly sendMany?: SendExchanges | undefined };

export const openSender = (
  senders: Senders,
  times: SendTimes,
  later: CallPlatform['later'],
  events: SendEvents,
): Sender => new ExchangeSender(senders, times, later, events);

class ExchangeSender implements Sender {
  readonly #senders: Senders;
  readonly #times: SendTimes;
  readonly #later: CallPlatform['later'];
  readonly #events: SendEvents;
  readonly #queue: WaitingExchange[] = [];
  #whenEmpty: (() => void)[] = [];
  #cancelPause: (() => void) | undefined;
  #isSending = false;
  #isClosed = false;
  /** Tries that the target did not take, one after the other. */
  #failed = 0;
  /** How often it failed on the first exchange that waits. */
  #faults = 0;
  /** So many go out alone next. */
  #alone = 0;

  constructor(senders: Senders, times: SendTimes, later: CallPlatform['later'], events: SendEvents) {
    this.#senders = senders;
    this.#times = times;
    this.#later = later;
    this.#events = events;
  }

  readonly waiting = (): number => this.#queue.length;

  readonly isAway = (): boolean => this.#failed > 0;

  add(waiting: WaitingExchange): void {
    this.#queue.push(waiting);
    void this.#run();
  }

  hurry(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    void this.#run();
  }

  async drained(milliseconds: number): Promise<boolean> {
    if (this.#queue.length === 0) return true;
    this.hurry();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), milliseconds);
    this.#whenEmpty.push(() => resolve(true));
    const done = await promise;
    clearTimeout(timer);
    return done;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPause?.();
  }

  async #run(): Promise<void> {
    if (this.#isSending || this.#isClosed || this.#cancelPause !== undefined) return;
    this.#isSending = true;
    try {
      if (!(await this.#sendAll())) return;
    } catch (error) {
      // The disk refused what was asked of it: the next try finds the file as it is.
      this.#events.away(textOf(error));
      this.#failed++;
      this.#pause(this.#times.longest);
    } finally {
      this.#isSending = false;
    }
    if (this.#queue.length > 0) return;
    for (const done of this.#whenEmpty) done();
    this.#whenEmpty = [];
  }

  /** @returns false if it did not come to the end of the queue */
  async #sendAll(): Promise<boolean> {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#isClosed) return false;
      const isOne = (await this.#sendSeveral()) === 0;
      if (isOne && !(await this.#sendNext(next))) {
        this.#failed++;
        this.#pause(backOff(this.#failed, this.#times));
        return false;
      }
      this.#failed = 0;
      if (isOne) this.#queue.shift();
    }
    return true;
  }

  #pause(milliseconds: number): void {
    this.#cancelPause = this.#later(milliseconds, () => {
      this.#cancelPause = undefined;
      void this.#run();
    });
  }

  /** @returns false if the target does not take it now */
  async #sendNext(next: WaitingExchange): Promise<boolean> {
    let json: string;
    try {
      json = next.read();
    } catch (error) {
      next.setAside();
      this.#events.damaged(textOf(error));
      return true;
    }
    const { send } = this.#senders;
    let outcome = await send(next.id, json).catch(asAway);
    if (outcome.kind === 'too large') outcome = await send(next.id, withoutBodies(json)).catch(asAway);
    if (outcome.kind === 'too large') outcome = { kind: 'refused', reason: 'it is too large', erased: false };
    if (outcome.kind === 'away' && outcome.isFault === true && ++this.#faults >= MOST_FAULTS)
      outcome = { kind: 'refused', reason: outcome.reason, erased: false };
    if (outcome.kind === 'away') {
      this.#events.away(outcome.reason);
      return false;
    }
    this.#settle(next, outcome);
    return true;
  }

  /** Sends several if several wait. @returns how many need not wait any more; 0: the first is to go alone */
  async #sendSeveral(): Promise<number> {
    const { sendMany } = this.#senders;
    // One that waited for a target that was away finds out whether it is back.
    if (sendMany === undefined || this.#queue.length < 2 || this.#failed > 0) return 0;
    if (this.#alone > 0) {
      this.#alone--;
      return 0;
    }
    const sent = together(this.#queue);
    if (sent.length < 2) return 0;
    const outcomes = await sendMany(sent).catch((error: unknown) => [asAway(error)]);
    if (outcomes.length === 0) this.#alone = MOST_TOGETHER;
    let settled = 0;
    for (const outcome of outcomes) {
      const [next] = this.#queue;
      if (next === undefined || (outcome.kind !== 'recorded' && outcome.kind !== 'refused')) break;
      this.#settle(next, outcome);
      this.#queue.shift();
      settled++;
    }
    return settled;
  }

  #settle(next: WaitingExchange, outcome: Settled): void {
    this.#faults = 0;
    if (outcome.kind === 'recorded' || outcome.erased) next.remove();
    else next.setAside();
    if (outcome.kind === 'recorded') this.#events.recorded(outcome.warning);
    else this.#events.refused(outcome.reason);
  }
}

/** The first of those that wait, as many as go out together; a damaged one goes alone. */
const together = (
  queue: readonly WaitingExchange[],
): readonly { readonly id: string; readonly json: string }[] => {
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

type Settled = Extract<SendOutcome, { readonly kind: 'recorded' | 'refused' }>;

const asAway = (error: unknown): SendOutcome => ({ kind: 'away', reason: textOf(error) });

/** What an error says; of one without words, its code: connections that several addresses refuse have no message. */
export const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return error.message === '' ? code : error.message;
};
