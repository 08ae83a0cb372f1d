import { defined } from '@stemma/values';
import type { CallSink, RecordedEntry, SteeredEntry } from '../proxy/call-sink.ts';
import { areCurrent, isIn, NOTHING_KNOWN, type KnownScopes } from '../proxy/steered-scopes.ts';
import type { FromHome, ToHome } from './thread-messages.ts';

/** Records calls in a home in another thread. */
export type ThreadSink = {
  readonly calls: CallSink;
  readonly knowScopes: (known: KnownScopes) => void;
  readonly hear: (message: Extract<FromHome, { kind: 'recorded' | 'steered' | 'scopesRead' }>) => void;
  /** Resolves when it is known who steers, or when the log has not said so in time. */
  readonly readScopes: () => Promise<void>;
  /** Nothing is steered any more. @param reason why calls go out as they came; default: the server is stopping */
  readonly end: (reason?: string) => void;
};

/** How long a call waits for the log to say who steers, and how long none does after one that it did not answer, in milliseconds. */
const ASKED = 1_000;
const AWAY = 5_000;

const STOPPING = 'the server is stopping';

/** @param directory of the home */
export const openThreadSink = (
  tell: (message: Extract<ToHome, { kind: 'call' | 'steer' | 'steerGone' | 'readScopes' }>) => void,
  directory: string,
): ThreadSink => {
  /** Calls that are being recorded. */
  const recording = new Map<number, (outcome: RecordedEntry) => void>();
  /** Calls that observers may steer. */
  const steering = new Map<number, (outcome: SteeredEntry) => void>();
  /** Calls that wait until it is known whether they may be steered. */
  const asking = new Map<number, () => void>();
  const state = {
    count: 0,
    ended: false,
    reason: STOPPING,
    steered: NOTHING_KNOWN,
    /** Until when a log that did not answer is not waited for again. */
    awayUntil: -Infinity,
  };

  const readScopes = async (): Promise<void> => {
    const id = ++state.count;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    asking.set(id, () => resolve(undefined));
    const timer = setTimeout(() => {
      state.awayUntil = performance.now() + AWAY;
      asking.delete(id);
      resolve(undefined);
    }, ASKED);
    tell({ kind: 'readScopes', id });
    await promise;
    clearTimeout(timer);
  };
  return {
    calls: {
      record: (ref, answer, { left = false, end } = {}) => {
        const id = ++state.count;
        recording.set(id, answer);
        tell({ kind: 'call', id, ref, left, ...defined({ end }) });
      },
      mayBeSteered: (place) => {
        const answer = (): boolean => isIn(state.steered.scopes, place);
        if (answer() || state.ended || performance.now() < state.awayUntil) return answer();
        return areCurrent(state.steered, directory) ? answer() : readScopes().then(answer);
      },
      steer: (entry, body, gone, change) =>
        new Promise((resolve) => {
          const id = ++state.count;
          if (state.ended) {
            resolve({ kind: 'unsteered', reason: state.reason });
            return;
          }
          steering.set(id, resolve);
          gone.addEventListener('abort', () => tell({ kind: 'steerGone', id }), { once: true });
          tell({ kind: 'steer', id, entry, body, ...defined({ change }) });
          if (gone.aborted) tell({ kind: 'steerGone', id });
        }),
    },
    knowScopes: (known) => (state.steered = known),
    hear: (message) => {
      if (message.kind === 'recorded') settle(recording, message.id, message.outcome);
      else if (message.kind === 'steered') settle(steering, message.id, message.outcome);
      else settle(asking, message.id);
    },
    readScopes,
    end: (reason = STOPPING) => {
      state.ended = true;
      state.reason = reason;
      for (const id of [...steering.keys()]) settle(steering, id, { kind: 'unsteered', reason });
      for (const id of [...asking.keys()]) settle(asking, id);
    },
  };
};

const settle = <Values extends readonly unknown[]>(
  waiting: Map<number, (...values: Values) => void>,
  id: number,
  ...values: Values
): void => {
  const waiter = waiting.get(id);
  waiting.delete(id);
  waiter?.(...values);
};
