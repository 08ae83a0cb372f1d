import type { AskedScope, CallBranch, StartedEntry, Waiting } from './entry.ts';
import type { Noted } from './journal.ts';
import type { UnendedCall, UnendedCalls } from './unended-calls.ts';

/** A call from its beginning until its end is recorded. */
export type ProxyCall = {
  branch: CallBranch | undefined;
  /** Recorded, but kept until its end is too: who comes after a crash finds the branch by it. */
  started: Waiting | undefined;
  /** What its client was given. */
  readonly open: UnendedCall;
  /** Its beginning is noted, and waits for its end. */
  begun: { readonly noted: Noted; readonly timer: NodeJS.Timeout } | undefined;
  /** Its beginning is on its way to the sink: records the end with it. @returns false if the sink has it already */
  addEnd: ((ended: Noted) => boolean) | undefined;
  readonly place: AskedScope;
  hasEnded: boolean;
  dropped: boolean;
  refused: boolean;
  /** Of the entry before: entries of one call are noted one after the other. */
  last: Promise<unknown>;
};

/** The calls whose end is not recorded yet. */
export class CallsUnderWay {
  readonly #calls = new Map<string, ProxyCall>();
  /** By run, the call of it that began last. */
  readonly #newest = new Map<string, ProxyCall>();
  /** By place, the calls whose beginnings wait for their ends, in the order in which they began. */
  readonly #begun = new Map<string, Set<ProxyCall>>();
  readonly #open: UnendedCalls;

  constructor(open: UnendedCalls) {
    this.#open = open;
  }

  add(entry: StartedEntry): ProxyCall {
    const { id, place } = entry;
    const call = newCall(place, this.#open.open(entry));
    this.#calls.set(id, call);
    if (isRun(place)) this.#newest.set(keyOf(place), call);
    return call;
  }

  get(id: string): ProxyCall | undefined {
    return this.#calls.get(id);
  }

  delete(id: string): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    call?.open.close();
    if (call !== undefined && this.#newest.get(keyOf(call.place)) === call)
      this.#newest.delete(keyOf(call.place));
  }

  /** False if another call of its run began after it. */
  isNewest(call: ProxyCall): boolean {
    return !isRun(call.place) || this.#newest.get(keyOf(call.place)) === call;
  }

  /** Has a beginning wait for its end. */
  addBegun(call: ProxyCall, begun: NonNullable<ProxyCall['begun']>): void {
    const key = keyOf(call.place);
    this.#begun.set(key, (this.#begun.get(key) ?? new Set<ProxyCall>()).add(call));
    call.begun = begun;
  }

  /** The calls of a place whose beginnings wait and came before this one's; without one, all of them. */
  begunBefore(place: AskedScope, call?: ProxyCall): readonly ProxyCall[] {
    const before: ProxyCall[] = [];
    for (const each of this.#begun.get(keyOf(place)) ?? []) {
      if (each === call) break;
      before.push(each);
    }
    return before;
  }

  /** A beginning that waits no more. */
  takeBegun(call: ProxyCall): ProxyCall['begun'] {
    const taken = call.begun;
    if (taken === undefined) return undefined;
    call.begun = undefined;
    clearTimeout(taken.timer);
    const key = keyOf(call.place);
    const begun = this.#begun.get(key);
    begun?.delete(call);
    if (begun?.size === 0) this.#begun.delete(key);
    return taken;
  }

  /** Resolves when everything is noted of them that was to be noted before. */
  async noted(): Promise<void> {
    await Promise.all([...this.#calls.values()].map(({ last }) => last));
  }

  /** No beginning is recorded any more because its time has come. */
  close(): void {
    for (const call of this.#calls.values()) clearTimeout(call.begun?.timer);
  }
}

const newCall = (place: AskedScope, open: UnendedCall): ProxyCall => ({
  open,
  branch: undefined,
  started: undefined,
  begun: undefined,
  addEnd: undefined,
  place,
  hasEnded: false,
  dropped: false,
  refused: false,
  last: Promise.resolve(),
});

/** Calls of different places are of different conversations. */
const keyOf = (place: AskedScope): string => JSON.stringify(place);

const isRun = (place: AskedScope): boolean => place !== null && 'run' in place;
