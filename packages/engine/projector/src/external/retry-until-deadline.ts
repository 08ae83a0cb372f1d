import { fail } from '@stemma/errors';
import { anySignal } from '@stemma/machine';
import type { RowStore } from '@stemma/row-store';

/** Milliseconds after which a waiting read looks at the rows again, in case a notification was lost. */
const POLL_INTERVAL = 250;

export type RowsWait = {
  /** Says what is waited for. */
  readonly what: () => string;
  readonly until: number;
  /** A steady clock in milliseconds. */
  readonly now: () => number;
  readonly signal?: AbortSignal;
};

/** Returns the first value of `attempt`, which it repeats after every commit. @throws E_ROWS_BEHIND, E_CANCELLED */
export const retryUntilDeadline = async <T>(
  store: RowStore,
  { what, until, now, signal }: RowsWait,
  attempt: () => Promise<{ readonly value: T } | undefined>,
): Promise<T> => {
  let found = await attempt();
  while (found === undefined) {
    if (signal?.aborted === true) throw fail('E_CANCELLED', `${what()}: the wait ended`);
    if (now() >= until) throw fail('E_ROWS_BEHIND', what());
    const done = new AbortController();
    try {
      // The notification is requested before the next attempt, so that no commit is missed in between.
      const notified = nextChange(store, done.signal);
      found = await attempt();
      if (found === undefined) await notified;
    } finally {
      done.abort();
    }
  }
  return found.value;
};

const nextChange = (store: RowStore, signal: AbortSignal): Promise<void> => {
  const either = anySignal([signal, AbortSignal.timeout(POLL_INTERVAL)]);
  return new Promise((resolve) => {
    either.addEventListener('abort', () => resolve(), { once: true });
    void store.changed?.(either).then(resolve, () => undefined);
  });
};
