import { fail } from '@stemma/errors';
import { apiOf } from '@stemma/model-apis';
import type { ServedCalls } from '@stemma/reruns';
import { LRUCache } from 'lru-cache';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerAndClose } from '../front/answer-and-close.ts';
import { errorAnswer } from '../front/error-answer.ts';
import { addressOf, routeOf, type ProxyAddress, type CallRoute, type Upstreams } from './address.ts';
import type { CallSink } from './call-sink.ts';
import { CallsUnderWay } from './calls-under-way.ts';
import { exchange } from './exchange.ts';
import { ExchangeNotes } from './exchange-notes.ts';
import { openJournal } from './journal.ts';
import { openCallNoter } from './note-calls.ts';
import { noteAllCalls } from './note-all-calls.ts';
import { isRecordedRequest } from './provider-call.ts';
import { ProviderCallsToRecord } from './provider-calls-to-record.ts';
import { CallCounter, type CountedCalls, type ProxyCounts } from './proxy-counts.ts';
import { CallsToRecord } from './record-calls.ts';
import { recordLater } from './record-later.ts';
import { rerunNotes, unknownRequest } from './rerun-notes.ts';
import { SinkBacklog } from './sink-backlog.ts';
import { tunnel } from './tunnel.ts';

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
  /** Milliseconds that calls without messages wait for the first conversation of their run; default 10,000. */
  readonly waitForConversation?: number;
  /** What answers the calls of reruns instead of their providers. */
  readonly reruns?: RerunsUnderWay | undefined;
  /** Hears that a call has begun to go out: its request is on the way. */
  readonly callBegan?: (() => void) | undefined;
  readonly warn: (sentence: string) => void;
  readonly count: (what: 'recorded' | 'dropped' | 'refused') => void;
  /** Where calls are counted, if not here: then `count` hears nothing. */
  readonly counter?: CountedCalls;
  /** Bytes of entries that go to the sink as they are, beside the file that has them; default 2 MiB. */
  readonly bytesToSink?: number;
};

/** What answers the calls of a rerun; undefined: no rerun of this id is under way. */
export type RerunsUnderWay = (id: string) => ServedCalls | undefined;

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
  /** Sends on a request whose route is known. */
  readonly send: (incoming: IncomingMessage, outgoing: ServerResponse, route: CallRoute) => void;
  /** As `upgrade`, of a request whose route is known. */
  readonly pass: (incoming: IncomingMessage, client: Duplex, head: Buffer, route: CallRoute) => void;
  readonly counts: () => ProxyCounts;
  readonly backlog: () => ProxyBacklog;
  /** Resolves when all calls are recorded that have ended, or with what waits still when the time is over. */
  readonly drained: (milliseconds: number) => Promise<number>;
  close(): Promise<void>;
};

const LIMIT = { onDisk: 1024 * 1024 * 1024, inMemory: 256 * 1024 * 1024 };

/**
 * So many milliseconds the beginning of a call waits in the journal for its end: what ends by then is recorded in one command
 * instead of two, which costs half as much. What lasts longer is seen while it is open.
 */
const SHORT = 20;

/** So many milliseconds what is noted waits for others, and lets calls pass that follow at once. */
const LATER = 10;

/** A warning of one kind is repeated after so many milliseconds. */
const REPEAT = 60_000;

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
  } = options;
  const sink = recordLater(options.sink, recordAfter);
  const warn = openWarnings(options.warn);
  const { journal, left } = await openJournal({ directory, limit, inMemory: redacts, warn });
  const calls = new CallsUnderWay(journal.unendedCalls);
  const backlog = new SinkBacklog(options.bytesToSink);
  const own = new CallCounter(options.count, warn);
  const counter = options.counter ?? own;
  const parts = { sink, journal, calls, backlog, counter };
  const records = new CallsToRecord(parts);
  const providerCalls = new ProviderCallsToRecord(parts, records, options.waitForConversation);
  records.onRecorded = (id) => providerCalls.conversationRecorded(id);
  const noter = openCallNoter(parts, records, endWithin, warn);
  const { started, given, ended, steer } = noteAllCalls(noter, providerCalls, options.callBegan);
  const passed = (method: string, path: string): void => counter.addUnrecorded(method, path);
  /** Clients that speak another protocol. */
  const tunnels = new Set<Duplex>();
  records.recordLeft(left);
  const handleRerun = (incoming: IncomingMessage, outgoing: ServerResponse, address: ProxyAddress): void => {
    const served = options.reruns?.(address.rerun ?? '');
    if (served === undefined) throw fail('E_NOT_FOUND', 'no rerun of this id is under way here');
    const route = routeOf(upstreams, address);
    const { method = 'GET' } = incoming;
    const [path = ''] = route.target.split('?', 1);
    const isCall = apiOf(method, path) !== 'other' || isRecordedRequest(method, path);
    if (!isCall && !served.passes(method, path)) {
      answerAndClose(outgoing, errorAnswer(unknownRequest(method, path)));
      return;
    }
    const notes = rerunNotes(served, { started, given, ended, steer });
    exchange(incoming, outgoing, route, { ...notes, passed });
  };

  const send = (incoming: IncomingMessage, outgoing: ServerResponse, route: CallRoute): void => {
    const sendNow = (isSteered: boolean): void =>
      exchange(incoming, outgoing, route, {
        ...{ started, given, ended, passed },
        steer: isSteered ? steer : undefined,
      });
    const may = sink.mayBeSteered(route.place);
    if (typeof may === 'boolean') sendNow(may);
    else
      may
        .then((isSteered) => {
          if (!outgoing.destroyed) sendNow(isSteered);
        })
        .catch((error: unknown) => answerAndClose(outgoing, errorAnswer(error)));
  };
  const pass = (incoming: IncomingMessage, client: Duplex, head: Buffer, route: CallRoute): void => {
    const [path = ''] = route.target.split('?', 1);
    tunnels.add(client);
    client.once('close', () => tunnels.delete(client));
    client.on('error', () => client.destroy());
    // The path is that of the requests over HTTP, each of which is a POST.
    const method = 'POST';
    const api = apiOf(method, path);
    const notes = { started, given, ended, steer: undefined };
    const ofRequest = { ...incoming.headers, 'content-type': 'application/json' };
    const open = (): ExchangeNotes =>
      new ExchangeNotes({ headers: ofRequest }, { method, path, api, route }, notes);
    const begin = (watch?: Parameters<typeof tunnel>[4]): void =>
      tunnel(incoming, client, head, route, watch, () => passed('websocket', path));
    if (api === 'openai.responses')
      // Most processes never read a frame.
      void import('./websocket-calls.ts').then(({ watchResponses }) => {
        if (!client.destroyed) begin((agreed) => watchResponses(agreed, open));
      });
    else begin();
  };

  return {
    send,
    pass,
    upgrade: (incoming, client, head) => {
      const address = addressIn(incoming);
      if (address.rerun !== null) throw fail('E_USAGE', 'a rerun answers no websockets');
      pass(incoming, client, head, routeOf(upstreams, address));
    },
    handle: (incoming, outgoing) => {
      try {
        const address = addressIn(incoming);
        if (address.rerun !== null) handleRerun(incoming, outgoing, address);
        else send(incoming, outgoing, routeOf(upstreams, address));
      } catch (error) {
        answerAndClose(outgoing, errorAnswer(error));
      }
    },
    counts: () => own.counts(),
    backlog: () => ({ calls: backlog.size, bytes: journal.size(), seconds: backlog.seconds }),
    drained: async (milliseconds) => {
      const until = performance.now() + milliseconds;
      await calls.noted();
      await backlog.drained(milliseconds);
      // What found no conversation to lie beside waits for none any more.
      await providerCalls.flush();
      return backlog.drained(Math.max(0, until - performance.now()));
    },
    close: () => {
      // What is in the journal, the next process records.
      calls.close();
      providerCalls.close();
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
