import { fail, visibleText } from '@stemma/errors';
import { openHomeThread } from './apart/open-home-thread.ts';
import type { HomeThreadOptions } from './apart/thread-messages.ts';
import { openDoorCounts, type CountAtDoor } from './front/door-counts.ts';
import { LIMITS, type GatewayLimits } from './front/limits.ts';
import { listenOn, type Gateway } from './front/listen-on.ts';
import { openFront, type FrontDoor } from './front/open-front.ts';
import type { Peers } from './peers/open-peers.ts';
import { upstreamsOf, type Upstreams } from './proxy/address.ts';
import { guardedProxy } from './proxy/guarded-proxy.ts';
import { openProxy, type Proxy, type ProxyBacklog, type RerunsUnderWay } from './proxy/open-proxy.ts';
import type { ProxyCounts } from './proxy/proxy-counts.ts';
import { openDoor } from './router.ts';

export type ServeHomeOptions = {
  readonly home: HomeThreadOptions['home'];
  /** 0: any that is free; unless said, 7836 or the next that is free. */
  readonly port?: number;
  /** A loopback address; 127.0.0.1 unless said. */
  readonly host?: string;
  /** What clients are held to; see `LIMITS`. */
  readonly limits?: Partial<GatewayLimits>;
  /** Milliseconds that a question may take; 30,000 unless said. */
  readonly queryTimeout?: number;
  /** Where the calls of models go that the proxy takes; by default the providers' own addresses. */
  readonly upstreams?: Upstreams;
  /** What answers the calls of reruns. */
  readonly reruns?: RerunsUnderWay;
  /** Hears that a call has begun to go out. */
  readonly callBegan?: () => void;
  /** Says what an operator has to know. */
  readonly warn?: (sentence: string) => void;
};

/** A gateway whose proxy records calls. */
export type HomeGateway = Gateway & {
  readonly calls: () => ProxyCounts;
  /** Resolves when all calls are recorded, or when the time is over, with how many entries still wait. */
  readonly drained: (milliseconds: number) => Promise<number>;
};

/** Milliseconds that a gateway which stops waits for calls to be recorded; the rest waits in files. */
const DRAIN = 5_000;

const QUERY_TIMEOUT = 30_000;

const NO_BACKLOG: ProxyBacklog = { calls: 0, bytes: 0, seconds: 0 };

/** The milliseconds that an environment lets a question take. @throws E_USAGE if it says so, but not in seconds */
export const queryTimeoutOf = ({ STEMMA_QUERY_TIMEOUT: text = '' }: NodeJS.ProcessEnv): number => {
  if (text === '') return QUERY_TIMEOUT;
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw fail('E_USAGE', `STEMMA_QUERY_TIMEOUT is ${JSON.stringify(text)}, not a number of seconds`);
  return Number(text) * 1_000;
};

/**
 * Serves a home whose work is done elsewhere: this thread holds the connections and their limits, another one the home,
 * and processes of their own answer the questions that take long. So whatever one client asks for, others are heard.
 *
 * @throws E_NOT_ALLOWED, E_ADDRESS_IN_USE as `serveGateway`, and what opening the home throws
 */
export const serveHome = async ({
  home,
  port,
  host,
  limits,
  queryTimeout = QUERY_TIMEOUT,
  upstreams = upstreamsOf({}),
  reruns,
  callBegan,
  warn = (sentence) => void process.stderr.write(`stemma: ${visibleText(sentence)}\n`),
}: ServeHomeOptions): Promise<HomeGateway> => {
  const { count, take } = openDoorCounts();
  let proxy: Proxy | undefined;
  const thread = await openHomeThread(
    { home, queryTimeout },
    { count, take, backlog: () => proxy?.backlog() ?? NO_BACKLOG },
    (exitCode) => process.exit(exitCode),
  );
  let hosts: (name: string) => boolean = () => false;
  const door = openDoor(thread, (name) => hosts(name));
  let peers: Peers | undefined;
  const front: FrontDoor = {
    find: door.find,
    answer: (route, request, client) => {
      const here = (): ReturnType<FrontDoor['answer']> => door.answer(route, request, client);
      return peers === undefined ? here() : peers.answer(request, here);
    },
  };
  try {
    const recording = await openProxy({
      directory: home.directory,
      upstreams,
      sink: thread.calls,
      redacts: thread.redacts,
      reruns,
      callBegan,
      warn,
      count: (outcome) => count('stemma_proxied_calls_total', { outcome }),
    });
    proxy = recording;
    const bypass = guardedProxy(recording, (name) => hosts(name), count);
    const listening = await listenOn(() => openFront(front, { ...LIMITS, ...limits }, count, bypass), {
      port,
      host,
    });
    hosts = listening.hosts;
    // The rules of another gateway may be others: what has secrets goes nowhere.
    peers = thread.redacts ? undefined : await peersOf(home.rows, listening.url, count);
    return {
      port: listening.port,
      url: listening.url,
      calls: recording.counts,
      drained: recording.drained,
      close: async () => {
        // Who looks for the owner of a history finds another one from now on.
        await peers?.close();
        thread.closing();
        await listening.close();
        await recording.drained(DRAIN);
        await thread.close();
        await recording.close();
      },
    };
  } catch (error) {
    await thread.close();
    await proxy?.close();
    throw error;
  }
};

/** The gateways on the same database; undefined where the rows are in none. */
const peersOf = async (
  rows: string | undefined,
  url: string,
  count: CountAtDoor,
): Promise<Peers | undefined> => {
  if (rows === undefined || !/^postgres(?:ql)?:/.test(rows)) return undefined;
  // Most homes never need it, and the client takes a while to load.
  const { openPeers } = await import('./peers/open-peers.ts');
  return openPeers(rows, url, count);
};
