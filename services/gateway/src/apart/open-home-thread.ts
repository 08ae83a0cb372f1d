import { fail, fromWireError } from '@stemma/errors';
import { collectWhenIdle, keepYoungSmall } from '@stemma/machine';
import { defined } from '@stemma/values';
import { once } from 'node:events';
import { isMarkedAsUntransferable, Worker } from 'node:worker_threads';
import type { DoorCounts } from '../front/door-counts.ts';
import type { HttpAnswer, Pieces, StreamedAnswer } from '../front/answer.ts';
import type { Answering } from '../front/open-front.ts';
import { openOutbox } from './outbox.ts';
import type { CallSink, RecordedEntry, SteeredEntry } from '../proxy/call-sink.ts';
import { areCurrent, isIn, NOTHING_KNOWN } from '../proxy/steered-scopes.ts';
import type { ProxyBacklog } from '../proxy/open-proxy.ts';
import type { FromHome, HomeThreadOptions, ToHome } from './thread-messages.ts';

/** A home in a thread of its own, as the thread of the server sees it. */
export type HomeThread = {
  readonly answer: Answering;
  /** Records what goes through the proxy. */
  readonly calls: CallSink;
  /** True if its rules take secrets out of commands. */
  readonly redacts: boolean;
  /** True while the thread answers at all: it may be slow, but not for minutes. */
  readonly alive: () => boolean;
  /** Ends streams with a word. */
  readonly closing: () => void;
  /** Closes the home. */
  readonly close: () => Promise<void>;
};

/** How often the thread is asked whether it lives, and after how long without a word it does not, in milliseconds. */
const PING = 1_000;
const DEAD = 120_000;

/** Megabytes for what is made and soon forgotten: with twice V8's own measure, a recorded call takes a tenth less of its thread. */
const YOUNG = 48;

/** The most megabytes for what stays. The less it may be, the sooner V8 collects: at 1.6 times of what was left; from 2 GiB on at four times. */
const OLD = 1_024;

/** A piece that is smaller is copied faster than moved. */
const LARGE = 16 * 1024;

/** The memory of large pieces that can be moved to another thread; the rest is copied. */
const movable = (pieces: readonly Uint8Array[]): readonly ArrayBuffer[] =>
  pieces.flatMap(({ buffer, length }) =>
    length >= LARGE && buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer) ? [buffer] : [],
  );

/** How long a call waits for the log to say who steers, and how long none does after one that it did not answer, in milliseconds. */
const ASKED = 1_000;
const AWAY = 5_000;

type Waiting = {
  readonly hold: (bytes: number) => void;
  readonly resolve: (answer: HttpAnswer | StreamedAnswer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * @param takeCounts gives what the door has counted since it was last called, and what is not recorded yet.
 * @param onLost is called with the exit code when the thread ends without being asked: the process cannot go on.
 * @throws what opening the home throws
 */
export const openHomeThread = async (
  options: HomeThreadOptions,
  takeCounts: () => { readonly counts: DoorCounts; readonly backlog: ProxyBacklog },
  onLost: (exitCode: number) => void,
): Promise<HomeThread> => {
  const { directory } = options.home;
  // Here: what a request leaves behind in this thread is little, and soon garbage.
  const letYoungGrow = keepYoungSmall(YOUNG / 3);
  const worker = new Worker(new URL('./home-thread.ts', import.meta.url), {
    workerData: options,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG, maxOldGenerationSizeMb: OLD },
  });
  const waiting = new Map<number, Waiting>();
  /** Those that wait for the next piece of a stream. */
  const streams = new Map<number, (piece: Uint8Array | undefined) => void>();
  /** Calls that are being recorded. */
  const recording = new Map<number, (outcome: RecordedEntry) => void>();
  /** Calls that observers may steer. */
  const steering = new Map<number, (outcome: SteeredEntry) => void>();
  let steered = NOTHING_KNOWN;
  /** Calls that wait until it is known whether they may be steered. */
  const asking = new Map<number, () => void>();
  /** Until when a log that did not answer is not waited for again. */
  let awayUntil = -Infinity;
  const clients = new WeakMap<object, number>();
  const state = { count: 0, lastWord: performance.now(), ended: false, closing: false };

  const { put: tell, flush } = openOutbox<ToHome>((messages, moved) => worker.postMessage(messages, moved));
  const clientNumber = (connection: object): number => {
    const number = clients.get(connection) ?? ++state.count;
    clients.set(connection, number);
    return number;
  };
  const respond = ({ id, status, headers, body }: Extract<FromHome, { kind: 'response' }>): void => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    try {
      waiter?.hold(body == null ? 0 : Buffer.byteLength(body));
    } catch (error) {
      waiter?.reject(error);
      return;
    }
    waiter?.resolve(
      body === undefined ? { status, headers, pieces: piecesOf(id) } : { status, headers, body },
    );
  };
  const piecesOf = (id: number): Pieces => {
    let over = false;
    streams.set(id, () => undefined);
    return {
      next: () =>
        new Promise((resolve) => {
          if (!streams.has(id)) {
            resolve(undefined);
            return;
          }
          streams.set(id, resolve);
          tell({ kind: 'pull', id });
        }),
      cancel: () => {
        if (over || !streams.has(id)) return;
        over = true;
        end(id);
        tell({ kind: 'cancel', id });
      },
    };
  };
  const end = (id: number): void => {
    const waiter = streams.get(id);
    streams.delete(id);
    waiter?.(undefined);
  };

  const opened = new Promise<boolean>((resolve, reject) => {
    const hear = (message: FromHome): void => {
      switch (message.kind) {
        case 'opened':
          ({ steered } = message);
          resolve(message.redacts);
          break;
        case 'refused':
          // It ends by itself, perhaps before those who wait hear why.
          state.closing = true;
          reject(fromWireError(message.error));
          break;
        case 'response':
          respond(message);
          break;
        case 'piece':
          streams.get(message.id)?.(message.bytes);
          break;
        case 'end':
          end(message.id);
          break;
        case 'recorded':
          recording.get(message.id)?.(message.outcome);
          recording.delete(message.id);
          break;
        case 'steeredScopes':
          ({ steered } = message);
          break;
        case 'scopesRead':
          asking.get(message.id)?.();
          asking.delete(message.id);
          break;
        case 'steered':
          steering.get(message.id)?.(message.outcome);
          steering.delete(message.id);
          break;
        case 'count':
          tell({ kind: 'counted', ...takeCounts() });
          break;
        case 'pong':
      }
    };
    worker.on('message', (messages: readonly FromHome[]) => {
      state.lastWord = performance.now();
      for (const message of messages) hear(message);
    });
    worker.on('error', (error: Error) => {
      process.stderr.write(`stemma: the thread of the home ended: ${String(error)}\n`);
      reject(error);
    });
    worker.on('exit', (code) => {
      letYoungGrow();
      state.ended = true;
      clearInterval(ping);
      const error = fail('E_BUSY', 'the server is stopping');
      reject(error);
      for (const { reject: refuse } of waiting.values()) refuse(error);
      waiting.clear();
      for (const id of [...streams.keys()]) end(id);
      for (const resolve of steering.values())
        resolve({ kind: 'unsteered', reason: 'the server is stopping' });
      steering.clear();
      for (const resolve of asking.values()) resolve();
      asking.clear();
      if (!state.closing) onLost(code === 0 ? 70 : code);
    });
  });
  const ping = setInterval(() => tell({ kind: 'ping' }), PING).unref();
  let redacts: boolean;
  try {
    redacts = await opened;
  } catch (error) {
    state.closing = true;
    clearInterval(ping);
    await worker.terminate();
    throw error;
  }

  /** Resolves when it is known who steers, or when the log has not said so in time. */
  const readScopes = async (): Promise<void> => {
    const id = ++state.count;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    asking.set(id, () => resolve(undefined));
    const timer = setTimeout(() => {
      awayUntil = performance.now() + AWAY;
      asking.delete(id);
      resolve(undefined);
    }, ASKED);
    tell({ kind: 'readScopes', id });
    await promise;
    clearTimeout(timer);
  };

  const noteWork = collectWhenIdle();
  return {
    redacts,
    calls: {
      record: (ref, answer, { left = false, end } = {}) => {
        noteWork();
        const id = ++state.count;
        recording.set(id, answer);
        tell({ kind: 'call', id, ref, left, ...defined({ end }) });
      },
      mayBeSteered: (place) => {
        const answer = (): boolean => isIn(steered.scopes, place);
        if (answer() || state.ended || performance.now() < awayUntil) return answer();
        return areCurrent(steered, directory) ? answer() : readScopes().then(answer);
      },
      steer: (entry, body, gone) =>
        new Promise((resolve) => {
          const id = ++state.count;
          if (state.ended) {
            resolve({ kind: 'unsteered', reason: 'the server is stopping' });
            return;
          }
          steering.set(id, resolve);
          gone.addEventListener('abort', () => tell({ kind: 'steerGone', id }), { once: true });
          tell({ kind: 'steer', id, entry, body });
          if (gone.aborted) tell({ kind: 'steerGone', id });
        }),
    },
    answer: ({ method, host, target, headers, client, hold, body, onGone }) =>
      new Promise<HttpAnswer | StreamedAnswer>((resolve, reject) => {
        if (state.ended) throw fail('E_BUSY', 'the server is stopping');
        noteWork();
        const id = ++state.count;
        waiting.set(id, { hold, resolve, reject });
        onGone(() => {
          if (!waiting.has(id)) return;
          waiting.delete(id);
          reject(fail('E_CANCELLED', 'the client is gone'));
          tell({ kind: 'cancel', id });
        });
        const message = { kind: 'request', id, method, host, target, headers: headers(), body } as const;
        const ports = { remote: client.remotePort ?? 0, local: client.localPort ?? 0 };
        tell({ ...message, connection: clientNumber(client), ports }, movable(body ?? []));
      }),
    alive: () => !state.ended && performance.now() - state.lastWord < DEAD,
    closing: () => tell({ kind: 'closing' }),
    close: async () => {
      if (state.ended) return;
      state.closing = true;
      const exited = once(worker, 'exit');
      tell({ kind: 'close' });
      flush();
      await exited;
    },
  };
};
