import type { RecordedEntry } from './call-sink.ts';
import type { CallBranch, Waiting } from './entry.ts';

/** What the calls through a proxy came to. */
export type ProxyCounts = {
  readonly calls: number;
  readonly dropped: number;
  readonly refused: number;
  /** Why calls were refused, and how many for each reason; of many reasons the first ones. */
  readonly refusals: readonly { readonly reason: string; readonly calls: number }[];
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

/** So many reasons are remembered. */
const MOST_REASONS = 20;

/** So many histories are named of those that calls were recorded in: a gateway runs for months. */
const MOST_HISTORIES = 10_000;

/** Counts the calls through a proxy, and warns of those that are not recorded. */
export class CallCounter {
  readonly #count: (what: 'recorded' | 'dropped' | 'refused') => void;
  readonly #warn: (sentence: string) => void;
  readonly #counts = { calls: 0, dropped: 0, refused: 0, cancelled: 0, failed: 0 };
  readonly #histories = new Set<string>();
  readonly #branches = new Map<string, { history: string; branchId: number; calls: number }>();
  readonly #refusals = new Map<string, number>();

  constructor(count: (what: 'recorded' | 'dropped' | 'refused') => void, warn: (sentence: string) => void) {
    this.#count = count;
    this.#warn = warn;
  }

  addCall(): void {
    this.#counts.calls++;
  }

  addHistory(history: string): void {
    if (this.#histories.size < MOST_HISTORIES) this.#histories.add(history);
  }

  addDropped(): void {
    const dropped = ++this.#counts.dropped;
    this.#count('dropped');
    this.#warn(`${dropped} calls were not recorded: there is no room for more that wait`);
  }

  addRefused({ code, message }: { readonly code: string; readonly message: string }): void {
    this.#counts.refused++;
    this.#count('refused');
    const reason = `${message} (${code})`;
    if (this.#refusals.has(reason) || this.#refusals.size < MOST_REASONS)
      this.#refusals.set(reason, (this.#refusals.get(reason) ?? 0) + 1);
    this.#warn(`a call cannot be recorded: ${reason}`);
  }

  addRecorded(
    kind: Waiting['kind'],
    { branch, status }: Extract<RecordedEntry, { readonly branch: unknown }>,
  ): void {
    this.addHistory(branch.history);
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
      histories: [...this.#histories],
      branches: [...this.#branches.values()].map((each) => ({ ...each })),
      refusals: [...this.#refusals].map(([reason, calls]) => ({ reason, calls })),
    };
  }
}
