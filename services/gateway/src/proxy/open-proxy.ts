import { bytesIn, joinBytes } from '@stemma/canonical';
import { LRUCache } from 'lru-cache';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerAndClose } from '../front/answer-and-close.ts';
import { errorAnswer } from '../front/error-answer.ts';
import { addressOf, type ProxyAddress, type Upstreams } from './address.ts';
import type { CallSink, RecordedEntry } from './call-sink.ts';
import type { AskedScope, CallBranch, EndedEntry, EntryRef, StartedEntry, Waiting } from './entry.ts';
import { exchange, type RequestToSend } from './exchange.ts';
import { recordLater } from './record-later.ts';
import { tunnel } from './tunnel.ts';
import { openJournal, type Noted } from './journal.ts';

export type ProxyOptions = {
  /** The directory of the home. */
  readonly directory: string;
  readonly upstreams: Upstreams;
  readonly sink: CallSink;
  /** True if rules take secrets out of what is recorded: then nothing waits in files. */
  readonly redacts: boolean;
  /** The most bytes of calls that wait to be recorded; default 1 GiB, and 256 MiB where they wait in memory. */
  readonly limit?: number;
  /** Milliseconds that the beginning of a call waits for its end; default 20. 0: it does not. */
  readonly endWithin?: number;
  /** Milliseconds after which what is noted is recorded, with all that was noted meanwhile; default 10. 0: at once. */
  readonly recordAfter?: number;
  readonly warn: (sentence: string) => void;
  readonly count: (what: 'recorded' | 'dropped' | 'refused') => void;
};

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
};

/** What of the calls through a proxy is not recorded yet. */
export type ProxyBacklog = {
  /** Calls, or ends of calls. */
  readonly calls: number;
  /** Their bytes in the journal, with those of calls whose end is still to come. */
  readonly bytes: number;
  /** For how long the oldest of them has been waiting. */
  readonly seconds: number;
};

/** Sends calls of models on to their providers, and records them. */
export type Proxy = {
  /** Answers a request to a path of the proxy. */
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Passes on what asks for another protocol, which is not recorded. @param head what came behind the request */
  readonly upgrade: (incoming: IncomingMessage, client: Duplex, head: Buffer) => void;
  readonly counts: () => ProxyCounts;
  readonly backlog: () => ProxyBacklog;
  /** Resolves when all calls are recorded that have ended, or with what waits still when the time is over. */
  readonly drained: (milliseconds: number) => Promise<number>;
  close(): Promise<void>;
};

/** So many reasons are remembered. */
const MOST_REASONS = 20;

const LIMIT = { onDisk: 1024 * 1024 * 1024, inMemory: 256 * 1024 * 1024 };

/**
 * Bytes of entries that are kept in memory until they are recorded, beside the file that has them: about as many as the sink works on.
 */
const MOST_IN_MEMORY = 2 * 1024 * 1024;

/**
 * So many milliseconds the beginning of a call waits in the journal for its end: what ends by then is recorded in one command
 * instead of two, which costs half as much. What lasts longer is seen while it is open.
 */
const SHORT = 20;

/** So many milliseconds what is noted waits for others, and lets calls pass that follow at once. */
const LATER = 10;

/** So many histories are named of those that calls were recorded in: a gateway runs for months. */
const MOST_HISTORIES = 10_000;

/** A warning of one kind is repeated after so many milliseconds. */
const REPEAT = 60_000;

type Call = {
  branch: CallBranch | undefined;
  /** Recorded, but kept until its end is too: who comes after a crash finds the branch by it. */
  started: Waiting | undefined;
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

/**
 * Opens the proxy of a home, and records what an earlier process left unrecorded.
 *
 * @throws E_IO if the directory cannot be written
 */
export const openProxy = async (options: ProxyOptions): Promise<Proxy> => {
  const {
    directory,
    upstreams,
    redacts,
    limit = redacts ? LIMIT.inMemory : LIMIT.onDisk,
    endWithin = SHORT,
    recordAfter = LATER,
    count,
  } = options;
  const sink = recordLater(options.sink, recordAfter);
  const warn = openWarnings(options.warn);
  const { journal, left } = await openJournal({ directory, limit, inMemory: redacts, warn });
  const calls = new Map<string, Call>();
  const histories = new Set<string>();
  const refusals = new Map<string, number>();
  const note = (history: string): void => {
    if (histories.size < MOST_HISTORIES) histories.add(history);
  };
  /** Clients that speak another protocol. */
  const tunnels = new Set<Duplex>();
  let [made, dropped, refused, cancelled, failed, waiting] = [0, 0, 0, 0, 0, 0];
  let whenDrained: (() => void)[] = [];

  /** Bytes of entries that are on their way to the sink in memory. */
  let inMemory = 0;
  /** Small entries go to the sink as they are; of the others, and of those for which it has no time, it reads the file. */
  const refFor = ({ ref, bytes }: Noted): EntryRef => {
    const size = bytesIn(bytes);
    return 'bytes' in ref || inMemory + size > MOST_IN_MEMORY ? ref : { bytes: joinBytes(bytes) };
  };
  const waitingOf = ({ kind, id, ref }: Noted): Waiting => ({ kind, id, ref });
  const recordNoted = (noted: Noted): void => record(waitingOf(noted), refFor(noted));
  const record = (entry: Waiting, ref = entry.ref, left = false): void => {
    waiting++;
    const settled = counted([ref], (outcome) => settle(entry, outcome));
    sink.record(ref, settled, { left });
  };
  /** When each of those that wait for the sink was given to it, the oldest first. */
  const since = new Set<{ readonly at: number; readonly size: number }>();
  /** What is called when entries that wait are recorded. */
  const counted = (
    refs: readonly EntryRef[],
    done: (outcome: RecordedEntry) => void,
  ): ((outcome: RecordedEntry) => void) => {
    const size = refs.reduce((sum, ref) => sum + ('bytes' in ref ? ref.bytes.length : 0), 0);
    inMemory += size;
    const began = { at: Math.round(performance.now()), size };
    since.add(began);
    return (outcome) => {
      since.delete(began);
      waiting--;
      inMemory -= began.size;
      done(outcome);
      if (waiting > 0) return;
      for (const drained of whenDrained) drained();
      whenDrained = [];
    };
  };
  /** By run, the call of it that began last. */
  const newest = new Map<string, Call>();
  const begin = (entry: StartedEntry): Call => {
    made++;
    const call = newCall(entry.place);
    calls.set(entry.id, call);
    if (isRun(entry.place)) newest.set(keyOf(entry.place), call);
    return call;
  };
  const forget = (id: string): void => {
    const call = calls.get(id);
    calls.delete(id);
    if (call !== undefined && newest.get(keyOf(call.place)) === call) newest.delete(keyOf(call.place));
  };
  /** By place, the calls whose beginnings wait for their ends, in the order in which they began. */
  const begun = new Map<string, Set<Call>>();
  /** The beginning of a call, a little later: perhaps with its end. */
  const recordSoon = (call: Call, noted: Noted): void => {
    const { place } = call;
    waiting++;
    const calls = begun.get(keyOf(place)) ?? new Set<Call>();
    begun.set(keyOf(place), calls.add(call));
    const timer = setTimeout(() => {
      recordBefore(place, call);
      recordAlone(call);
    }, endWithin);
    call.begun = { noted, timer };
  };
  /** What began before is recorded before: a client may go on when it has read enough of an answer. */
  const recordBefore = (place: AskedScope, call?: Call): void => {
    for (const each of begun.get(keyOf(place)) ?? []) {
      if (each === call) return;
      recordAlone(each);
    }
  };
  /** A beginning that waits no more. */
  const takeBegun = (call: Call): NonNullable<Call['begun']> | undefined => {
    const taken = call.begun;
    if (taken === undefined) return undefined;
    call.begun = undefined;
    clearTimeout(taken.timer);
    const calls = begun.get(keyOf(call.place));
    calls?.delete(call);
    if (calls?.size === 0) begun.delete(keyOf(call.place));
    return taken;
  };
  const recordAlone = (call: Call): void => {
    const taken = takeBegun(call);
    if (taken !== undefined) queue(call, waitingOf(taken.noted), refFor(taken.noted));
  };
  /** What waits for the answer has where the entry stands, and nothing of its bytes: many wait while the log is away. */
  const queue = (call: Call, start: Waiting, ref: EntryRef): void => {
    let settled = (outcome: RecordedEntry): void => settle(start, outcome);
    const entry = sink.record(
      ref,
      counted([ref], (outcome) => settled(outcome)),
    );
    call.addEnd = (ended) => {
      if (entry.isSent()) return false;
      // Nothing that waits may hold what was noted: its bytes are in the file.
      const [end, endRef] = [waitingOf(ended), refFor(ended)];
      waiting++;
      settled = counted([endRef], (outcome) => settleBoth(start, end, outcome));
      entry.addEnd(endRef);
      forget(end.id);
      return true;
    };
  };
  /**
   * Records an end with its beginning, if that still waits for the sink. Which call of a run led to another one is seen by what
   * ended before it began: there no end goes before a beginning that was noted first.
   */
  const joinQueued = (call: Call, ended: Noted): boolean =>
    (!isRun(call.place) || newest.get(keyOf(call.place)) === call) && call.addEnd?.(ended) === true;
  /** @returns false if the beginning of the call waits no more */
  const recordWhole = (call: Call, ended: Noted): boolean => {
    if (call.begun === undefined) return false;
    recordBefore(call.place, call);
    const { noted } = takeBegun(call) ?? {};
    if (noted === undefined) return false;
    recordBoth([waitingOf(noted), refFor(noted)], [waitingOf(ended), refFor(ended)]);
    forget(ended.id);
    return true;
  };
  /** Of a call that is noted whole nothing else is kept while it waits: many do while the log is away, or slower than calls come. */
  const recordBoth = (
    [start, ref]: readonly [Waiting, EntryRef],
    [end, endRef]: readonly [Waiting, EntryRef],
    left = false,
  ): void => {
    const settled = counted([ref, endRef], (outcome) => settleBoth(start, end, outcome));
    sink.record(ref, settled, { left, end: endRef });
  };
  const settleBoth = (start: Waiting, end: Waiting, outcome: RecordedEntry): void => {
    settle(end, outcome);
    journal.done(start);
  };
  const settle = (entry: Waiting, outcome: RecordedEntry): void => {
    const call = calls.get(entry.id);
    if ('refused' in outcome) {
      // A call whose beginning was refused is refused once more when it ends.
      if (call?.refused !== true) {
        refused++;
        count('refused');
        const reason = `${outcome.refused.message} (${outcome.refused.code})`;
        if (refusals.has(reason) || refusals.size < MOST_REASONS)
          refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
        warn(`a call cannot be recorded: ${reason}`);
      }
      if (call !== undefined) call.refused = true;
    } else if ('branch' in outcome) {
      note(outcome.branch.history);
      if (entry.kind === 'ended') count('recorded');
      if (outcome.status === 'cancelled') cancelled++;
      else if (outcome.status !== undefined && outcome.status !== 'answered') failed++;
    }
    if (entry.kind === 'ended' || call === undefined) {
      journal.done(entry);
      if (call?.started !== undefined) journal.done(call.started);
      forget(entry.id);
      return;
    }
    call.branch = 'branch' in outcome ? outcome.branch : undefined;
    if (call.hasEnded) call.started = entry;
    else journal.done(entry);
  };
  const drop = (call: Call): void => {
    call.dropped = true;
    dropped++;
    count('dropped');
    warn(`${dropped} calls were not recorded: there is no room for more that wait`);
  };

  const started = (entry: StartedEntry, body: readonly Uint8Array[]): void => {
    const call = begin(entry);
    call.last = journal.append(entry, body).then((noted) => {
      if (noted === undefined) drop(call);
      else if (endWithin > 0) recordSoon(call, noted);
      else recordNoted(noted);
    });
  };
  const steer = async (
    entry: StartedEntry,
    body: readonly Uint8Array[],
    gone: AbortSignal,
  ): Promise<RequestToSend> => {
    const call = begin(entry);
    // Noted before it is held: of a process that is killed, the next one records that nobody knows what became of it.
    const noted = await journal.append(entry, body);
    if (noted === undefined) {
      drop(call);
      return { kind: 'send', body: null };
    }
    const outcome = await sink.steer(entry, joinBytes(body), gone);
    switch (outcome.kind) {
      case 'untouched':
        recordBefore(entry.place);
        recordNoted(noted);
        return { kind: 'send', body: null };
      case 'sent':
        call.branch = outcome.branch;
        note(outcome.branch.history);
        if (outcome.isRecorded) journal.done(noted);
        else call.started = noted;
        return { kind: 'send', body: outcome.body };
      case 'ended':
        note(outcome.branch.history);
        journal.done(noted);
        forget(entry.id);
        return outcome;
      case 'unsteered': {
        if (isMeant(entry.place)) warn(`a call was not steered: ${outcome.reason}`);
        journal.done(noted);
        const again = await journal.append({ ...entry, unsteered: outcome.reason }, body);
        recordBefore(entry.place);
        if (again === undefined) drop(call);
        else recordNoted(again);
        return { kind: 'send', body: null };
      }
    }
  };
  const ended = async (entry: Omit<EndedEntry, 'branch'>, body: readonly Uint8Array[]): Promise<void> => {
    const call = calls.get(entry.id);
    if (call === undefined) return;
    await call.last;
    if (call.dropped) {
      forget(entry.id);
      return;
    }
    call.hasEnded = true;
    const noted = await journal.append({ ...entry, branch: call.branch ?? null }, body);
    if (noted !== undefined) {
      if (!recordWhole(call, noted) && !joinQueued(call, noted)) recordNoted(noted);
      return;
    }
    drop(call);
    if (call.started !== undefined) journal.done(call.started);
    forget(entry.id);
  };
  for (const { start, end } of inPairs(left)) {
    if (start === undefined || end === undefined) {
      const entry = start ?? end;
      if (entry !== undefined) record(entry, entry.ref, true);
      continue;
    }
    waiting++;
    recordBoth([start, start.ref], [end, end.ref], true);
  }

  return {
    upgrade: (incoming, client, head) => {
      const address = addressIn(incoming);
      tunnels.add(client);
      client.once('close', () => tunnels.delete(client));
      tunnel(incoming, client, head, address, upstreams[address.provider]);
    },
    handle: (incoming, outgoing) => {
      try {
        const address = addressIn(incoming);
        const send = (isSteered: boolean): void =>
          exchange(incoming, outgoing, address, upstreams[address.provider], {
            ...{ started, ended },
            steer: isSteered ? steer : undefined,
          });
        const may = sink.mayBeSteered(address.place);
        if (typeof may === 'boolean') send(may);
        else
          may
            .then((isSteered) => {
              if (!outgoing.destroyed) send(isSteered);
            })
            .catch((error: unknown) => answerAndClose(outgoing, errorAnswer(error)));
      } catch (error) {
        answerAndClose(outgoing, errorAnswer(error));
      }
    },
    counts: () => ({
      ...{ calls: made, dropped, refused, cancelled, failed, histories: [...histories] },
      refusals: [...refusals].map(([reason, count]) => ({ reason, calls: count })),
    }),
    backlog: () => {
      const [oldest] = since;
      const seconds = oldest === undefined ? 0 : (performance.now() - oldest.at) / 1000;
      return { calls: waiting, bytes: journal.size(), seconds };
    },
    drained: async (milliseconds) => {
      await Promise.all([...calls.values()].map(({ last }) => last));
      if (waiting === 0) return 0;
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => resolve(undefined), milliseconds);
      whenDrained.push(() => resolve(undefined));
      await promise;
      clearTimeout(timer);
      return waiting;
    },
    close: () => {
      // What is in the journal, the next process records.
      for (const call of calls.values()) clearTimeout(call.begun?.timer);
      for (const client of tunnels) client.destroy();
      sink.close();
      return journal.close();
    },
  };
};

/** @throws E_USAGE */
const addressIn = ({ url = '', headers }: IncomingMessage): ProxyAddress => {
  const named = headers['x-stemma-history'];
  return addressOf(url, Array.isArray(named) ? named[0] : named);
};

const newCall = (place: AskedScope): Call => ({
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

/** True for a call that a client or an operator put where calls are steered; others may only look like one. */
const isMeant = (place: AskedScope): boolean => place !== null && ('name' in place || place.steer === true);

/** Says a sentence, and the next one like it only after a while. */
const openWarnings = (say: (sentence: string) => void): ((sentence: string) => void) => {
  const said = new LRUCache<string, true>({ max: 100, ttl: REPEAT });
  return (sentence) => {
    const kind = sentence.replace(/\d+/g, '');
    if (said.has(kind)) return;
    said.set(kind, true);
    say(sentence);
  };
};

/** A call as it was left: one entry of it, or both where no other call began between them, which one command records. */
type LeftCall = { readonly start?: Waiting; readonly end?: Waiting };

const inPairs = (left: readonly Waiting[]): readonly LeftCall[] => {
  const calls: LeftCall[] = [];
  /** The place of the call that began last. */
  let last = -1;
  for (const entry of left) {
    const start = calls[last]?.start;
    if (entry.kind === 'started') last = calls.push({ start: entry }) - 1;
    else if (start?.id === entry.id) calls[last] = { start, end: entry };
    else calls.push({ end: entry });
  }
  return calls;
};
