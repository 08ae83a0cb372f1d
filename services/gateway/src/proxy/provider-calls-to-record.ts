import { LRUCache } from 'lru-cache';
import type { EndedEntry, StartedEntry, Waiting } from './entry.ts';
import type { Noted } from './journal.ts';
import type { UnendedCall } from './unended-calls.ts';
import type { CallsToRecord, RecordingParts } from './record-calls.ts';

/** Milliseconds that an ended call waits for the first conversation of its run, in whose history it belongs. */
const FOR_CONVERSATION = 10_000;

/** So many runs are known to have a conversation. */
const MOST_RUNS = 10_000;

/** Calls of a run that ended before a conversation of the run was recorded. */
type WaitingCalls = {
  readonly calls: (readonly [start: Waiting, end: Waiting])[];
  readonly timer: NodeJS.Timeout;
};

/**
 * Notes calls without messages, and has each recorded as a whole when it has ended: beside the first conversation of its run, if there is
 * one by then. An agent that embeds a question before it asks a model makes its first conversation a little later.
 */
export class ProviderCallsToRecord {
  readonly #parts: Pick<RecordingParts, 'journal' | 'counter'>;
  readonly #records: CallsToRecord;
  readonly #waitFor: number;
  /** The starts of those that have not ended, by id; undefined: there was no room. */
  readonly #started = new Map<
    string,
    { readonly noted: Promise<Noted | undefined>; readonly open: UnendedCall }
  >();
  readonly #runOf = new Map<string, string>();
  readonly #waiting = new Map<string, WaitingCalls>();
  /** Runs with a recorded conversation, and calls with messages of others, by id. */
  readonly #known = new LRUCache<string, true>({ maxSize: MOST_RUNS, sizeCalculation: () => 1 });
  readonly #conversations = new LRUCache<string, string>({ maxSize: MOST_RUNS, sizeCalculation: () => 1 });
  /** Of the end that is being noted. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    parts: Pick<RecordingParts, 'journal' | 'counter'>,
    records: CallsToRecord,
    waitFor = FOR_CONVERSATION,
  ) {
    this.#parts = parts;
    this.#records = records;
    this.#waitFor = waitFor;
  }

  started(entry: StartedEntry, body: readonly Uint8Array[]): Promise<unknown> {
    const { journal, counter } = this.#parts;
    counter.addCall(entry.id);
    const run = runIn(entry);
    if (run !== undefined && !isNamed(entry)) this.#runOf.set(entry.id, run);
    const noted = journal.append(entry, body).then((start) => {
      if (start === undefined) counter.addDropped(entry.id);
      return start;
    });
    this.#started.set(entry.id, { noted, open: journal.unendedCalls.open(entry) });
    return noted;
  }

  /** Keeps what the client is given of the answer, as a process that is killed notes no end. */
  given(id: string, ...piece: Parameters<UnendedCall['given']>): void {
    this.#started.get(id)?.open.given(...piece);
  }

  ended(entry: Omit<EndedEntry, 'branch'>, body: readonly Uint8Array[]): Promise<void> {
    const ended = this.#noteEnd(entry, body);
    this.#last = Promise.allSettled([this.#last, ended]);
    return ended;
  }

  async #noteEnd(entry: Omit<EndedEntry, 'branch'>, body: readonly Uint8Array[]): Promise<void> {
    const { journal, counter } = this.#parts;
    const records = this.#records;
    const run = this.#runOf.get(entry.id);
    this.#runOf.delete(entry.id);
    const started = this.#started.get(entry.id);
    const start = await started?.noted;
    this.#started.delete(entry.id);
    const end = start && (await journal.append({ ...entry, branch: null }, body));
    started?.open.close();
    if (start === undefined) return;
    if (end === undefined) {
      counter.addDropped(entry.id, 'answer');
      records.recordNoted(start);
    } else if (run === undefined || this.#known.has(run)) records.recordTogether(start, end);
    else this.#wait(run, [withoutBytes(start), withoutBytes(end)]);
  }

  /** A call with messages begins. */
  conversationStarted(entry: StartedEntry): void {
    const run = runIn(entry);
    if (run !== undefined && !this.#known.has(run)) this.#conversations.set(entry.id, run);
  }

  /** Something of a call with messages is recorded. */
  conversationRecorded(id: string): void {
    const run = this.#conversations.get(id);
    if (run === undefined) return;
    this.#conversations.delete(id);
    this.#known.set(run, true);
    this.#record(run);
  }

  /** Resolves when all that have ended are given to the recorder. */
  async flush(): Promise<void> {
    await this.#last;
    for (const run of [...this.#waiting.keys()]) this.#record(run);
  }

  /** What waits is in the journal: the next process records it. */
  close(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
  }

  #wait(run: string, call: readonly [Waiting, Waiting]): void {
    const waiting = this.#waiting.get(run);
    if (waiting !== undefined) {
      waiting.calls.push(call);
      return;
    }
    const timer = setTimeout(() => this.#record(run), this.#waitFor);
    this.#waiting.set(run, { calls: [call], timer });
  }

  #record(run: string): void {
    const waiting = this.#waiting.get(run);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    this.#waiting.delete(run);
    for (const [start, end] of waiting.calls) this.#records.recordTogether(start, end);
  }
}

/** What waits long has no bytes in memory: they are in the journal. */
const withoutBytes = ({ kind, id, ref }: Waiting): Waiting => ({ kind, id, ref });

const runIn = ({ place, run }: StartedEntry): string | undefined =>
  run ?? (place !== null && 'run' in place ? place.run : undefined);

/** True if a history is named that it belongs to: it need not wait for one. */
const isNamed = ({ place }: StartedEntry): boolean => place !== null && 'name' in place;
