import { fail, fromWireError } from '@stemma/errors';
import { collectWhenIdle, keepYoungSmall } from '@stemma/machine';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HttpAnswers } from '../answers.ts';
import type { CountAtDoor, DoorCounts } from '../front/door-counts.ts';
import type { CallSink } from '../proxy/call-sink.ts';
import type { ProxyBacklog } from '../proxy/open-proxy.ts';
import { NOTHING_KNOWN, type KnownScopes } from '../proxy/steered-scopes.ts';
import { openHomeAsker } from './ask-home.ts';
import { openOutbox } from './outbox.ts';
import { openThreadSink } from './thread-sink.ts';
import type { FromHome, HomeThreadOptions, ToHome } from './thread-messages.ts';

/** A home in a thread of its own, as the thread of the server sees it. */
export type HomeThread = HttpAnswers & {
  /** Records what goes through the proxy. */
  readonly calls: CallSink;
  /** True if its rules take secrets out of commands. */
  readonly redacts: boolean;
  /** Which calls observers may steer. */
  readonly scopes: {
    readonly known: () => KnownScopes;
    /** Resolves when all is known that the log has now, or when it has not said so in time. */
    readonly read: () => Promise<void>;
    /** Hears that another one is known. */
    readonly listen: (changed: (known: KnownScopes) => void) => void;
  };
  /** Ends streams with a word. */
  readonly closing: () => void;
  /** Closes the home. */
  readonly close: () => Promise<void>;
};

/** What the thread of the server tells that of the home when metrics are read. */
export type DoorState = {
  readonly count: CountAtDoor;
  /** What was counted since it was last called. */
  readonly take: () => DoorCounts;
  /** What of the calls through the proxy is not recorded yet. */
  readonly backlog: () => ProxyBacklog;
};

/** How often the thread is asked whether it lives, and after how long without a word it does not, in milliseconds. */
const PING = 1_000;
const DEAD = 120_000;

/** Megabytes for what is made and soon forgotten: with twice V8's own measure, a recorded call takes a tenth less of its thread. */
const YOUNG = 48;

/** The most megabytes for what stays. The less it may be, the sooner V8 collects: at 1.6 times of what was left; from 2 GiB on at four times. */
const OLD = 1_024;

/**
 * @param onLost is called with the exit code when the thread ends without being asked: nothing is recorded any more.
 * @throws what opening the home throws
 */
export const openHomeThread = async (
  options: HomeThreadOptions,
  door: DoorState,
  onLost: (exitCode: number) => void,
): Promise<HomeThread> => {
  // Here: what a request leaves behind in this thread is little, and soon garbage.
  const letYoungGrow = keepYoungSmall(YOUNG / 3);
  const worker = new Worker(new URL('./home-thread.ts', import.meta.url), {
    workerData: options,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG, maxOldGenerationSizeMb: OLD },
  });
  const { put: tell, flush } = openOutbox<ToHome>((messages, moved) => worker.postMessage(messages, moved));
  const sink = openThreadSink(tell, options.home.directory);
  const state = { lastWord: performance.now(), ended: false, closing: false };
  const noteWork = collectWhenIdle();
  const asker = openHomeAsker(tell, {
    isAlive: () => !state.ended && performance.now() - state.lastWord < DEAD,
    noteWork,
    count: door.count,
  });
  const ping = setInterval(() => tell({ kind: 'ping' }), PING).unref();

  let known = NOTHING_KNOWN;
  let scopesChanged: ((known: KnownScopes) => void) | undefined;
  const knowScopes = (steered: KnownScopes): void => {
    known = steered;
    sink.knowScopes(steered);
    scopesChanged?.(steered);
  };
  const opened = new Promise<boolean>((resolve, reject) => {
    const hear = (message: FromHome): void => {
      switch (message.kind) {
        case 'opened':
          knowScopes(message.steered);
          resolve(message.redacts);
          break;
        case 'refused':
          // It ends by itself, perhaps before those who wait hear why.
          state.closing = true;
          reject(fromWireError(message.error));
          break;
        case 'response':
        case 'piece':
        case 'end':
          asker.hear(message);
          break;
        case 'steeredScopes':
          knowScopes(message.steered);
          break;
        case 'recorded':
        case 'steered':
        case 'scopesRead':
          sink.hear(message);
          break;
        case 'count':
          tell({ kind: 'counted', counts: door.take(), backlog: door.backlog() });
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
      asker.end(error);
      sink.end();
      if (!state.closing) onLost(code === 0 ? 70 : code);
    });
  });
  let redacts: boolean;
  try {
    redacts = await opened;
  } catch (error) {
    state.closing = true;
    clearInterval(ping);
    await worker.terminate();
    throw error;
  }

  return {
    redacts,
    scopes: {
      known: () => known,
      read: sink.readScopes,
      listen: (changed) => (scopesChanged = changed),
    },
    calls: {
      ...sink.calls,
      record: (...call) => {
        noteWork();
        sink.calls.record(...call);
      },
    },
    ask: asker.ask,
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
