import { MIND_LIMITS, type MindLimits } from './limits.ts';
import type { Mind, MindAttempt, MindSurroundings } from './mind.ts';

/** Hears of each try before it is made and when it has ended; what it returns is waited for. */
export type MindTries = {
  readonly before?: (tries: number) => Promise<void> | void;
  readonly after?: (tries: number, attempt: MindAttempt) => Promise<void> | void;
};

type AskOptions = MindTries &
  Pick<MindSurroundings, 'sleep' | 'random'> & {
    readonly signal: AbortSignal;
    readonly limits?: Pick<MindLimits, 'tries' | 'retryAfter'>;
  };

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8_000;

/**
 * Asks until there is an answer, or no further try may bring one. Pauses double, each shortened by chance so that clients do
 * not come back together; what a server asks for counts instead, unless it asks for too much.
 *
 * @returns the last attempt
 */
export const askMind = (mind: Mind, request: Uint8Array, options: AskOptions): Promise<MindAttempt> =>
  repeatUntilDone(async (tries) => {
    await options.before?.(tries);
    const attempt = await mind.attempt(request, options.signal);
    await options.after?.(tries, attempt);
    return attempt;
  }, options);

/** Tries as {@link askMind} does. @returns the last attempt */
export const repeatUntilDone = async <A extends Pick<MindAttempt, 'retry'>>(
  attemptOnce: (tries: number) => Promise<A>,
  { signal, sleep, random, limits = MIND_LIMITS }: Omit<AskOptions, keyof MindTries>,
): Promise<A> => {
  for (let tries = 1; ; tries++) {
    const attempt = await attemptOnce(tries);
    if (attempt.retry === null || tries >= limits.tries || signal.aborted) return attempt;
    const { after } = attempt.retry;
    if (after !== null && after > limits.retryAfter) return attempt;
    const pause = Math.min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE);
    try {
      await sleep(Math.max(after ?? 0, pause * (0.5 + random() / 2)), signal);
    } catch {
      return attempt;
    }
  }
};
