import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerAndClose } from '../front/answer-and-close.ts';
import { errorAnswer } from '../front/error-answer.ts';
import { addressOf, type Upstreams } from './address.ts';
import type { CallBranch, EndedEntry, StartedEntry } from './entry.ts';
import { exchange } from './exchange.ts';
import { openJournal, type EntryRef, type Noted, type Waiting } from './journal.ts';

/** Records entries, in the order in which it gets them. */
export type CallSink = {
  /** @param answer is called with what became of it, once */
  record(ref: EntryRef, answer: (outcome: RecordedEntry) => void): void;
};

/** What became of an entry: recorded in a branch, or refused with a reason that no try will change. */
export type RecordedEntry =
  { readonly branch: CallBranch } | { readonly refused: { readonly code: string; readonly message: string } };

export type ProxyOptions = {
  /** The directory of the home. */
  readonly directory: string;
  readonly upstreams: Upstreams;
  readonly sink: CallSink;
  /** True if rules take secrets out of what is recorded: then nothing waits in files. */
  readonly redacts: boolean;
  /** The most bytes of calls that wait to be recorded; default 256 MiB. */
  readonly limit?: number;
  readonly warn: (sentence: string) => void;
  readonly count: (what: 'recorded' | 'dropped' | 'refused') => void;
};

/** What the calls through a proxy came to. */
export type ProxyCounts = {
  readonly calls: number;
  readonly dropped: number;
  readonly refused: number;
  /** The histories that calls were recorded in, in the order they were met. */
  readonly histories: readonly string[];
};

/** Sends calls of models on to their providers, and records them. */
export type Proxy = {
  /** True for a path of the proxy; then the request is answered. */
  readonly takes: (incoming: IncomingMessage) => boolean;
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly counts: () => ProxyCounts;
  /** Resolves when all calls are recorded that have ended, or with what waits still when the time is over. */
  readonly drained: (milliseconds: number) => Promise<number>;
  close(): Promise<void>;
};

const LIMIT = 256 * 1024 * 1024;

/** Bytes of entries that are kept in memory until they are recorded, beside the file that has them. */
const MOST_IN_MEMORY = 32 * 1024 * 1024;

/** A warning of one kind is repeated after so many milliseconds. */
const REPEAT = 60_000;

type Call = {
  branch: CallBranch | undefined;
  /** Recorded, but kept until its end is too: who comes after a crash finds the branch by it. */
  started: Waiting | undefined;
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
  const { directory, upstreams, sink, redacts, limit = LIMIT, count } = options;
  const warn = openWarnings(options.warn);
  const { journal, left } = await openJournal({ directory, limit, inMemory: redacts, warn });
  const calls = new Map<string, Call>();
  const histories = new Set<string>();
  let [made, dropped, refused, waiting] = [0, 0, 0, 0];
  let whenDrained: (() => void)[] = [];

  /** Bytes of entries that are on their way to the sink in memory. */
  let inMemory = 0;
  /** Small entries go to the sink as they are; of the others, and of those for which it has no time, it reads the file. */
  const refFor = ({ ref, bytes }: Noted): EntryRef => {
    const size = bytes.reduce((sum, { length }) => sum + length, 0);
    return 'bytes' in ref || inMemory + size > MOST_IN_MEMORY ? ref : { bytes: Buffer.concat(bytes) };
  };
  const recordNoted = ({ kind, id, ref, bytes }: Noted): void =>
    record({ kind, id, ref }, refFor({ kind, id, ref, bytes }));
  const record = (entry: Waiting, ref = entry.ref): void => {
    waiting++;
    const size = 'bytes' in ref ? ref.bytes.length : 0;
    inMemory += size;
    sink.record(ref, (outcome) => {
      waiting--;
      inMemory -= size;
      settle(entry, outcome);
      if (waiting > 0) return;
      for (const done of whenDrained) done();
      whenDrained = [];
    });
  };
  const settle = (entry: Waiting, outcome: RecordedEntry): void => {
    const call = calls.get(entry.id);
    if ('refused' in outcome) {
      // A call whose beginning was refused is refused once more when it ends.
      if (call?.refused !== true) {
        refused++;
        count('refused');
        warn(`a call cannot be recorded: ${outcome.refused.message} (${outcome.refused.code})`);
      }
      if (call !== undefined) call.refused = true;
    } else {
      histories.add(outcome.branch.history);
      if (entry.kind === 'ended') count('recorded');
    }
    if (entry.kind === 'ended' || call === undefined) {
      journal.done(entry);
      if (call?.started !== undefined) journal.done(call.started);
      calls.delete(entry.id);
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
    made++;
    const call: Call = {
      branch: undefined,
      started: undefined,
      hasEnded: false,
      dropped: false,
      refused: false,
      last: Promise.resolve(),
    };
    calls.set(entry.id, call);
    call.last = journal.append(entry, body).then((noted) => {
      if (noted === undefined) drop(call);
      else recordNoted(noted);
    });
  };
  const ended = async (entry: Omit<EndedEntry, 'branch'>, body: readonly Uint8Array[]): Promise<void> => {
    const call = calls.get(entry.id);
    if (call === undefined) return;
    await call.last;
    if (call.dropped) {
      calls.delete(entry.id);
      return;
    }
    call.hasEnded = true;
    const noted = await journal.append({ ...entry, branch: call.branch ?? null }, body);
    if (noted !== undefined) {
      recordNoted(noted);
      return;
    }
    drop(call);
    if (call.started !== undefined) journal.done(call.started);
    calls.delete(entry.id);
  };
  for (const entry of left) record(entry);

  return {
    takes: ({ url = '' }) => url.startsWith('/proxy/'),
    handle: (incoming, outgoing) => {
      try {
        const named = incoming.headers['x-stemma-history'];
        const address = addressOf(incoming.url ?? '', Array.isArray(named) ? named[0] : named);
        exchange(incoming, outgoing, address, upstreams[address.provider], { started, ended });
      } catch (error) {
        answerAndClose(outgoing, errorAnswer(error));
      }
    },
    counts: () => ({ calls: made, dropped, refused, histories: [...histories] }),
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
    close: () => journal.close(),
  };
};

/** Says a sentence, and the next one like it only after a while. */
const openWarnings = (say: (sentence: string) => void): ((sentence: string) => void) => {
  const said = new Map<string, number>();
  return (sentence) => {
    const kind = sentence.replace(/\d+/g, '');
    const now = performance.now();
    if (now - (said.get(kind) ?? -REPEAT) < REPEAT) return;
    if (said.size > 100) said.clear();
    said.set(kind, now);
    say(sentence);
  };
};
