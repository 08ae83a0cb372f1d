/** Those who wait for records behind an offset. */
export type Waiters = {
  /** Resolves when the partition has more than `from`, with the signal, and when everybody is woken. @throws as `endOf` */
  readonly wait: (partition: number, from: number, signal: AbortSignal) => Promise<void>;
  /** Wakes those who have something to read. */
  readonly look: () => void;
  readonly wakeAll: () => void;
};

type Waiter = { readonly from: number; readonly wake: () => void };

/**
 * Looks for records on behalf of all who wait: once a partition, however many they are. A look takes some microseconds,
 * and there may be hundreds of clients that wait for days.
 *
 * @param every calls again and again, until what it gives is called.
 */
export const openWaiters = (
  every: (fn: () => void) => () => void,
  endOf: (partition: number) => number,
): Waiters => {
  const waiting = new Map<number, Set<Waiter>>();
  let stop: (() => void) | undefined;

  const leave = (partition: number, waiter: Waiter): void => {
    const group = waiting.get(partition);
    group?.delete(waiter);
    if (group?.size === 0) waiting.delete(partition);
    if (waiting.size > 0) return;
    stop?.();
    stop = undefined;
  };
  const look = (): void => {
    for (const [partition, group] of [...waiting]) {
      let end = Infinity;
      try {
        end = endOf(partition);
      } catch {
        // Who is woken reads, and is told what is wrong.
      }
      for (const { from, wake } of [...group]) if (end > from) wake();
    }
  };
  return {
    wait: async (partition, from, signal) => {
      if (signal.aborted || endOf(partition) > from) return;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          leave(partition, waiter);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const waiter = { from, wake };
        const group = waiting.get(partition) ?? new Set();
        waiting.set(partition, group.add(waiter));
        signal.addEventListener('abort', wake);
        stop ??= every(look);
      });
    },
    look,
    wakeAll: () => {
      for (const group of [...waiting.values()]) for (const { wake } of [...group]) wake();
    },
  };
};
