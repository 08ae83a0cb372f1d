import type { RecordedEntry } from './call-sink.ts';
import type { CallsUnderWay, ProxyCall } from './calls-under-way.ts';
import type { AskedScope, EntryRef, Waiting } from './entry.ts';
import type { CallJournal, Noted } from './journal.ts';
import { leftCalls } from './left-over.ts';
import type { CountedCalls } from './proxy-counts.ts';
import type { LaterSink } from './record-later.ts';
import type { SinkBacklog } from './sink-backlog.ts';

/** What a recorder of calls works on. */
export type RecordingParts = {
  readonly sink: LaterSink;
  readonly journal: CallJournal;
  readonly calls: CallsUnderWay;
  readonly backlog: SinkBacklog;
  readonly counter: CountedCalls;
};

/** An entry, and where the sink reads it. */
type Given = readonly [entry: Waiting, ref: EntryRef];

/** Gives what is noted of calls to the sink, beginning and end in one where they are close, and settles what became of it. */
export class CallsToRecord {
  readonly #sink: LaterSink;
  readonly #journal: CallJournal;
  readonly #calls: CallsUnderWay;
  readonly #backlog: SinkBacklog;
  readonly #counter: CountedCalls;

  /** Hears that something of a call is recorded. */
  onRecorded: (id: string) => void = () => {};

  constructor({ sink, journal, calls, backlog, counter }: RecordingParts) {
    this.#sink = sink;
    this.#journal = journal;
    this.#calls = calls;
    this.#backlog = backlog;
    this.#counter = counter;
  }

  /** What an earlier process left. */
  recordLeft(left: readonly Waiting[]): void {
    for (const { start, end } of leftCalls(left)) {
      const entry = start ?? end;
      if (entry === undefined) continue;
      this.#backlog.add();
      if (start === undefined || end === undefined) this.#record([entry, entry.ref], true);
      else this.#recordBoth([start, start.ref], [end, end.ref], true);
    }
  }

  recordNoted(noted: Noted): void {
    this.#backlog.add();
    this.#record(this.#given(noted));
  }

  /** A call that is noted whole. */
  recordTogether(start: Noted | Waiting, end: Noted | Waiting): void {
    this.#backlog.add();
    this.#recordBoth(this.#givenOf(start), this.#givenOf(end));
  }

  /** The beginning of a call, a little later: perhaps with its end. */
  recordSoon(call: ProxyCall, noted: Noted, milliseconds: number): void {
    this.#backlog.add();
    const timer = setTimeout(() => {
      this.recordBefore(call.place, call);
      this.#recordAlone(call);
    }, milliseconds);
    this.#calls.addBegun(call, { noted, timer });
  }

  /** What began before is recorded before: a client may go on when it has read enough of an answer. */
  recordBefore(place: AskedScope, call?: ProxyCall): void {
    for (const each of this.#calls.begunBefore(place, call)) this.#recordAlone(each);
  }

  /** The end of a call, with its beginning if that still waits. */
  recordEnd(call: ProxyCall, ended: Noted): void {
    if (!this.#recordWhole(call, ended) && !this.#joinQueued(call, ended)) this.recordNoted(ended);
  }

  #given(noted: Noted): Given {
    const { kind, id, ref } = noted;
    return [{ kind, id, ref }, this.#backlog.refFor(noted)];
  }

  #givenOf(entry: Noted | Waiting): Given {
    return 'bytes' in entry ? this.#given(entry) : [entry, entry.ref];
  }

  #record([entry, ref]: Given, left = false): void {
    const settled = this.#backlog.settling([ref], (outcome) => this.#settle(entry, outcome));
    this.#sink.record(ref, settled, { left });
  }

  #recordAlone(call: ProxyCall): void {
    const taken = this.#calls.takeBegun(call);
    if (taken !== undefined) this.#queue(call, this.#given(taken.noted));
  }

  /** What waits for the answer has where the entry stands, and nothing of its bytes: many wait while the log is away. */
  #queue(call: ProxyCall, [start, ref]: Given): void {
    let settled = (outcome: RecordedEntry): void => this.#settle(start, outcome);
    const entry = this.#sink.record(
      ref,
      this.#backlog.settling([ref], (outcome) => settled(outcome)),
    );
    call.addEnd = (ended) => {
      if (entry.isSent()) return false;
      // Nothing that waits may hold what was noted: its bytes are in the file.
      const [end, endRef] = this.#given(ended);
      this.#backlog.add();
      settled = this.#backlog.settling([endRef], (outcome) => this.#settleBoth(start, end, outcome));
      entry.addEnd(endRef);
      this.#calls.delete(end.id);
      return true;
    };
  }

  /**
   * Records an end with its beginning, if that still waits for the sink. Which call of a run led to another one is seen by what
   * ended before it began: there no end goes before a beginning that was noted first.
   */
  #joinQueued(call: ProxyCall, ended: Noted): boolean {
    return this.#calls.isNewest(call) && call.addEnd?.(ended) === true;
  }

  /** @returns false if the beginning of the call waits no more */
  #recordWhole(call: ProxyCall, ended: Noted): boolean {
    if (call.begun === undefined) return false;
    this.recordBefore(call.place, call);
    const { noted } = this.#calls.takeBegun(call) ?? {};
    if (noted === undefined) return false;
    this.#recordBoth(this.#given(noted), this.#given(ended));
    this.#calls.delete(ended.id);
    return true;
  }

  /** Of a call that is noted whole nothing else is kept while it waits: many do while the log is away, or slower than calls come. */
  #recordBoth([start, ref]: Given, [end, endRef]: Given, left = false): void {
    const settled = this.#backlog.settling([ref, endRef], (outcome) => this.#settleBoth(start, end, outcome));
    this.#sink.record(ref, settled, { left, end: endRef });
  }

  #settleBoth(start: Waiting, end: Waiting, outcome: RecordedEntry): void {
    this.#settle(end, outcome);
    this.#journal.done(start);
  }

  #settle(entry: Waiting, outcome: RecordedEntry): void {
    if ('branch' in outcome) this.onRecorded(entry.id);
    const call = this.#calls.get(entry.id);
    if ('refused' in outcome) {
      // A call whose beginning was refused is refused once more when it ends.
      const what = entry.kind === 'ended' && call?.branch !== undefined ? 'answer' : 'call';
      if (call?.refused !== true) this.#counter.addRefused(outcome.refused, entry.id, what);
      if (call !== undefined) call.refused = true;
    } else if ('branch' in outcome) this.#counter.addRecorded({ kind: entry.kind, id: entry.id }, outcome);
    if (entry.kind === 'ended' || call === undefined) {
      this.#journal.done(entry);
      if (call?.started !== undefined) this.#journal.done(call.started);
      this.#calls.delete(entry.id);
      return;
    }
    call.branch = 'branch' in outcome ? outcome.branch : undefined;
    if (call.hasEnded) call.started = entry;
    else {
      if (call.branch !== undefined) call.open.placed(call.branch);
      this.#journal.done(entry);
    }
  }
}
