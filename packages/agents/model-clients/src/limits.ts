import { fail } from '@stemma/errors';
import type { MindSurroundings } from './mind.ts';

/** What a mind may take. Times are milliseconds. */
export type MindLimits = {
  /** Until the connection stands. */
  readonly connect: number;
  /** From the request until the first byte of its answer. */
  readonly firstByte: number;
  /** From the request until its answer is whole. */
  readonly whole: number;
  /** Bytes of an answer. */
  readonly answer: number;
  /** Requests that wait for an answer at a time. */
  readonly concurrency: number;
  /** Requests a minute; 0: as many as are made. */
  readonly perMinute: number;
  /** Tries to get an answer. */
  readonly tries: number;
  /** The longest that a server may ask to wait before another try. */
  readonly retryAfter: number;
};

const SECOND = 1_000;

export const MIND_LIMITS: MindLimits = {
  connect: 10 * SECOND,
  firstByte: 300 * SECOND,
  whole: 600 * SECOND,
  answer: 16 * 1024 * 1024,
  concurrency: 4,
  perMinute: 0,
  tries: 4,
  retryAfter: 60 * SECOND,
};

const VARIABLES = [
  ['STEMMA_MIND_TIMEOUT', 'whole', SECOND, 86_400],
  ['STEMMA_MIND_FIRST_BYTE', 'firstByte', SECOND, 86_400],
  ['STEMMA_MIND_CONCURRENCY', 'concurrency', 1, 1_000],
  ['STEMMA_MIND_PER_MINUTE', 'perMinute', 1, 1_000_000],
  ['STEMMA_MIND_TRIES', 'tries', 1, 20],
] as const;

/** The limits that an environment sets, seconds as whole numbers. @throws E_USAGE */
export const limitsOf = (env: MindSurroundings['env']): MindLimits => {
  const set: Partial<Record<keyof MindLimits, number>> = {};
  for (const [name, limit, unit, most] of VARIABLES) {
    const text = env[name] ?? '';
    if (text === '') continue;
    const number = Number(text);
    if (!/^[1-9]\d{0,6}$/.test(text) || number > most)
      throw fail(
        'E_USAGE',
        `${name} is ${JSON.stringify(text.slice(0, 100))}, not a whole number from 1 to ${most}`,
      );
    set[limit] = number * unit;
  }
  return { ...MIND_LIMITS, ...set };
};

/** Lets requests through, so many at a time and a minute, in the order in which they came. */
export type MindGate = <T>(signal: AbortSignal, act: () => Promise<T>) => Promise<T>;

const MINUTE = 60 * SECOND;

export const openGate = (
  { concurrency, perMinute }: Pick<MindLimits, 'concurrency' | 'perMinute'>,
  { now, sleep }: Pick<MindSurroundings, 'now' | 'sleep'>,
): MindGate => {
  let running = 0;
  const waiting: (() => void)[] = [];
  /** When the newest requests were let through: never more than may be in a minute. */
  const times: number[] = [];
  let turn: Promise<unknown> = Promise.resolve();

  const enter = async (signal: AbortSignal): Promise<void> => {
    if (running >= concurrency)
      await new Promise<void>((resolve, reject) => {
        const go = (): void => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = (): void => {
          waiting.splice(waiting.indexOf(go), 1);
          reject(signal.reason as Error);
        };
        waiting.push(go);
        signal.addEventListener('abort', leave, { once: true });
      });
    running++;
  };
  const untilMinuteAllows = async (signal: AbortSignal): Promise<void> => {
    if (perMinute === 0) return;
    const mine = turn.then(async () => {
      const oldest = times.length < perMinute ? undefined : times.shift();
      const wait = oldest === undefined ? 0 : oldest + MINUTE - now();
      if (wait > 0) await sleep(wait, signal);
      times.push(now());
    });
    turn = mine.catch(() => undefined);
    await mine;
  };
  return async (signal, act) => {
    signal.throwIfAborted();
    await enter(signal);
    try {
      await untilMinuteAllows(signal);
      return await act();
    } finally {
      running--;
      waiting.shift()?.();
    }
  };
};
