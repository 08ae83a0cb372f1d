import { LRUCache } from 'lru-cache';
import type { RecordedEntry } from './call-sink.ts';
import type { CallBranch, Waiting } from './entry.ts';

/** What the calls through a proxy came to. */
export type ProxyCounts = {
  readonly calls: number;
  /** Noted, and nothing of them is recorded yet. */
  readonly waitingCalls: number;
  /** Of the recorded ones: there was no room for their answers, or the log refused these. */
  readonly withoutAnswer: number;
  /** They never went out: observers ended them, or their clients went while they were held. */
  readonly aborted: number;
  readonly gone: number;
  readonly dropped: number;
  readonly refused: number;
  /** Why calls were refused, and how many for each reason; of many reasons the first ones. */
  readonly refusals: readonly { readonly reason: string; readonly calls: number }[];
  /** Requests that went on and are not recorded: websockets, and those that ask no model. */
  readonly unrecorded: UnrecordedCounts;
  /** Of the recorded ones: ended by the client, and with no whole answer for another reason. */
  readonly cancelled: number;
  readonly failed: number;
  /** The histories that calls were recorded in, in the order they were met; the first 10,000. */
  readonly histories: readonly string[];
  /** Their branches, with the calls that ended on each. */
  readonly branches: readonly {
    readonly history: string;
    readonly branchId: number;
    readonly calls: number;
  }[];
};

/** What went on unrecorded, by method and path, in the order in which each was met; of many kinds the first ones. */
export type UnrecordedCounts = {
  readonly kinds: readonly { readonly method: string; readonly path: string; readonly calls: number }[];
  /** How many were of other kinds. */
  readonly others: number;
};

/** So many kinds of requests are told apart, and so many characters of a path. */
const [MOST_KINDS, MOST_OF_PATH] = [20, 200];

/** So many reasons are remembered. */
const MOST_REASONS = 20;

/** So many histories are named of those that calls were recorded in: a gateway runs for months. */
const MOST_HISTORIES = 10_000;

/** Hears what becomes of calls. */
export type CountedCalls = Pick<
  CallCounter,
  'addCall' | 'addUnsent' | 'addUnrecorded' | 'addHistory' | 'addDropped' | 'addRefused' | 'addRecorded'
>;

/** So many recorded entries are known: one that a forwarder and the next one both had recorded counts once. */
const MOST_KNOWN = 10_000;

/** Counts the calls through a proxy, and warns of those that are not recorded. */
export class CallCounter {
  readonly #count: (what: 'recorded' | 'dropped' | 'refused') => void;
  readonly #warn: (sentence: string) => void;
  readonly #counts = {
    ...{ calls: 0, dropped: 0, refused: 0, cancelled: 0, failed: 0 },
    ...{ withoutAnswer: 0, aborted: 0, gone: 0 },
  };
  /** The ids of calls of which nothing is recorded yet. */
  readonly #waiting = new Set<string>();
  readonly #histories = new Set<string>();
  readonly #branches = new Map<string, { history: string; branchId: number; calls: number }>();
  readonly #unrecorded = new Map<string, { method: string; path: string; calls: number }>();
  #otherUnrecorded = 0;
  readonly #refusals = new Map<string, number>();
  readonly #known = new LRUCache<string, true>({ max: MOST_KNOWN });

  constructor(count: (what: 'recorded' | 'dropped' | 'refused') => void, warn: (sentence: string) => void) {
    this.#count = count;
    this.#warn = warn;
  }

  addCall(id: string): void {
    this.#counts.calls++;
    this.#waiting.add(id);
  }

  /** A held call never went out: observers ended it, or its client is gone. */
  addUnsent(id: string, how: 'aborted' | 'gone'): void {
    this.#waiting.delete(id);
    this.#counts[how]++;
  }

  /** @param path without its query */
  addUnrecorded(method: string, path: string): void {
    const key = `${method} ${path}`;
    const known = this.#unrecorded.get(key);
    if (known !== undefined) known.calls++;
    else if (this.#unrecorded.size < MOST_KINDS)
      this.#unrecorded.set(key, { method, path: path.slice(0, MOST_OF_PATH), calls: 1 });
    else this.#otherUnrecorded++;
  }

  addHistory(history: string): void {
    if (this.#histories.size < MOST_HISTORIES) this.#histories.add(history);
  }

  /** There was no room for the call, or for its answer. */
  addDropped(id: string, what: 'call' | 'answer' = 'call'): void {
    this.#count('dropped');
    if (what === 'answer') {
      const without = ++this.#counts.withoutAnswer;
      this.#warn(`the answers of ${without} calls were not recorded: there is no room for more that wait`);
      return;
    }
    this.#waiting.delete(id);
    const dropped = ++this.#counts.dropped;
    this.#warn(`${dropped} calls were not recorded: there is no room for more that wait`);
  }

  /** The log refused the call, or its answer alone. */
  addRefused(
    { code, message }: { readonly code: string; readonly message: string },
    id: string,
    what: 'call' | 'answer' = 'call',
  ): void {
    this.#waiting.delete(id);
    if (what === 'answer') this.#counts.withoutAnswer++;
    else this.#counts.refused++;
    this.#count('refused');
    const reason = `${message} (${code})`;
    if (this.#refusals.has(reason) || this.#refusals.size < MOST_REASONS)
      this.#refusals.set(reason, (this.#refusals.get(reason) ?? 0) + 1);
    this.#warn(`a call cannot be recorded: ${reason}`);
  }

  addRecorded(
    { kind, id }: Pick<Waiting, 'kind' | 'id'>,
    { branch, status }: Extract<RecordedEntry, { readonly branch: unknown }>,
  ): void {
    this.addHistory(branch.history);
    this.#waiting.delete(id);
    const key = `${kind} ${id}`;
    if (this.#known.has(key)) return;
    this.#known.set(key, true);
    if (kind === 'ended') {
      this.#addCallOf(branch);
      this.#count('recorded');
    }
    if (status === 'cancelled') this.#counts.cancelled++;
    else if (status !== undefined && status !== 'answered') this.#counts.failed++;
  }

  #addCallOf({ history, branchId }: CallBranch): void {
    const key = `${history} ${branchId}`;
    const known = this.#branches.get(key);
    if (known !== undefined) known.calls++;
    else if (this.#branches.size < MOST_HISTORIES) this.#branches.set(key, { history, branchId, calls: 1 });
  }

  counts(): ProxyCounts {
    return {
      ...this.#counts,
      waitingCalls: this.#waiting.size,
      unrecorded: {
        kinds: [...this.#unrecorded.values()].map((each) => ({ ...each })),
        others: this.#otherUnrecorded,
      },
      histories: [...this.#histories],
      branches: [...this.#branches.values()].map((each) => ({ ...each })),
      refusals: [...this.#refusals].map(([reason, calls]) => ({ reason, calls })),
    };
  }
}
