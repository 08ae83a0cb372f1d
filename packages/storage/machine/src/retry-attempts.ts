import { backOff, type BackOff } from '@stemma/errors';
import { setTimeout as sleep } from 'node:timers/promises';

export type FailedAttempt = {
  readonly error: unknown;
  /** How many attempts have failed, this one included. */
  readonly failed: number;
  /** The deadline is over. */
  readonly isLate: boolean;
};

export type RetryPolicy = {
  readonly pauses: BackOff;
  /** After so many failures there is no pause yet; default 0. */
  readonly atOnce?: number;
  /** Milliseconds from now on after which a failure counts as late; default: none does. */
  readonly deadline?: number;
  /** Ends a pause, and the attempts with it. */
  readonly signal?: AbortSignal;
  /** Is told of each failure. What it throws ends the attempts. */
  readonly onFailure: (failure: FailedAttempt) => void | Promise<void>;
};

/**
 * What the first attempt gives that does not fail. Which failures pass, and when it is too late, says `onFailure`.
 *
 * @throws what `onFailure` throws; AbortError if the signal ends a pause
 */
export const retryAttempts = async <T>(
  attempt: () => Promise<T>,
  { pauses, atOnce = 0, deadline = Infinity, signal, onFailure }: RetryPolicy,
): Promise<T> => {
  const until = performance.now() + deadline;
  for (let failed = 1; ; failed++) {
    try {
      return await attempt();
    } catch (error) {
      await onFailure({ error, failed, isLate: performance.now() >= until });
    }
    if (failed > atOnce) await sleep(backOff(failed - atOnce, pauses), undefined, { signal });
  }
};
