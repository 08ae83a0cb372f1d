import type { KafkaClient } from './protocol/client.ts';
import { decodeBatches } from './protocol/record-batches.ts';

/** Wakes those who wait for something at or behind an offset. */
export type Watcher = {
  wait(partition: number, from: number, signal: AbortSignal): Promise<void>;
  /** Something ends here now: those who waited for it need not ask. */
  saw(partition: number, end: number): void;
  close(): Promise<void>;
};

/** How long a watcher waits for what, in milliseconds. */
export type WatcherWaits = {
  /** So long a broker holds a request back until there is something. Default 1,000. */
  readonly poll: number;
  /** From an answer that failed to the next request. Default 500. */
  readonly retry: number;
  /** Whoever waits looks after so long, whatever the brokers say. Default 5,000. */
  readonly longest: number;
  /**
   * So long after somebody waited for it a partition is polled. Who was woken reads and waits again; a poll without the
   * partition, begun in between, would be held back before it can be asked for. Default 10,000.
   */
  readonly kept: number;
};

const WAITS: WatcherWaits = { poll: 1_000, retry: 500, longest: 5_000, kept: 10_000 };

/** What a watcher asks the brokers with. */
type PollingClient = Pick<KafkaClient, 'leaders' | 'poll' | 'epoch' | 'close'>;

type Waiter = { readonly partition: number; readonly from: number; readonly wake: () => void };

/**
 * One long poll a leader, for all who wait. On connections of its own: a broker answers the requests of one connection in
 * order. They are opened when somebody waits, and polled while somebody does or did a moment ago.
 */
export const openWatcher = (connect: () => PollingClient, waits: Partial<WatcherWaits> = {}): Watcher => {
  const { poll: held, retry, longest: most, kept } = { ...WAITS, ...waits };
  const waiters = new Set<Waiter>();
  const ends = new Map<number, number>();
  /** When somebody last waited for a partition, in milliseconds. */
  const waited = new Map<number, number>();
  let client: PollingClient | undefined;
  let running = false;
  let closed = false;
  const isClosed = (): boolean => closed;

  const wakeUp = (of: (waiter: Waiter) => boolean): void => {
    for (const waiter of waiters) if (of(waiter)) waiter.wake();
  };
  const saw = (partition: number, end: number): void => {
    ends.set(partition, Math.max(end, ends.get(partition) ?? 0));
    wakeUp((waiter) => waiter.partition === partition && waiter.from < end);
  };
  /** The partitions that somebody waits for, and those whose end is known and that somebody waited for lately. */
  const watched = (): number[] => {
    const now = performance.now();
    for (const { partition } of waiters) waited.set(partition, now);
    for (const [partition, at] of waited) if (now - at > kept) waited.delete(partition);
    return [...waited.keys()].sort((a, b) => a - b).filter((partition) => placeOf(partition) !== undefined);
  };
  /** Where to poll: whoever waits further back than is known has something to read at once. */
  const placeOf = (partition: number): number | undefined => {
    const froms = [...waiters].filter((waiter) => waiter.partition === partition).map(({ from }) => from);
    const known = ends.get(partition);
    return froms.length === 0 ? known : Math.max(known ?? 0, Math.min(...froms));
  };

  const poll = async (on: PollingClient, group: readonly number[]): Promise<void> => {
    const still = new Set(watched());
    const places = new Map(
      group.flatMap((partition) => {
        const place = still.has(partition) ? placeOf(partition) : undefined;
        return place === undefined ? [] : [[partition, place] as const];
      }),
    );
    if (places.size === 0) return;
    const fetches = [...places].map(([partition, from]) => ({ partition, from, maxBytes: 1 }));
    for (const [partition, { error, end, batches }] of await on.poll(fetches, held)) {
      // Who waits where the log does not reach any more will be told when he reads.
      if (error !== 0) {
        ends.delete(partition);
        wakeUp((waiter) => waiter.partition === partition);
        continue;
      }
      const from = places.get(partition) ?? 0;
      const { records, next } = decodeBatches(batches, from);
      if (records.length > 0) saw(partition, Math.max(end, next));
      else ends.set(partition, next);
    }
  };

  const run = async (): Promise<void> => {
    running = true;
    while (watched().length > 0 && !closed)
      try {
        client ??= connect();
        const on = client;
        const epoch = on.epoch();
        const known = watched().join();
        const groups = await on.leaders(watched());
        // Those that nobody leads just now must not keep the others waiting; they are asked about again soon.
        const complete = groups.flat().length === watched().length;
        if (groups.length === 0) throw new Error('nobody leads what is waited for');
        const going = (): boolean =>
          complete && !closed && on.epoch() === epoch && watched().join() === known;
        await Promise.all(
          groups.map(async (group) => {
            do await poll(on, group);
            while (going());
          }),
        );
      } catch {
        // They look for themselves, and meet what is wrong.
        wakeUp(() => true);
        if (!isClosed()) await new Promise((resolve) => setTimeout(resolve, retry));
      }
    running = false;
  };

  return {
    wait: (partition, from, signal) =>
      new Promise((resolve) => {
        waited.set(partition, performance.now());
        if (signal.aborted || closed || (ends.get(partition) ?? 0) > from) {
          resolve();
          return;
        }
        const wake = (): void => {
          clearTimeout(longest);
          waiters.delete(waiter);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const longest = setTimeout(wake, most);
        const waiter: Waiter = { partition, from, wake };
        waiters.add(waiter);
        signal.addEventListener('abort', wake);
        if (!running) void run();
      }),
    saw,
    close: async () => {
      closed = true;
      wakeUp(() => true);
      await client?.close();
    },
  };
};
