/** What waits, and for whom. */
type Waiting<T> = { readonly client: unknown; readonly item: T };

/**
 * A queue that is fair to clients: next is the question of the client that has used least time, whoever asked first.
 * Whoever is new begins with as much as the one who was served last, so that nobody gains by coming anew.
 */
export type FairQueue<T> = {
  /** Adds an item, and gives the one that has to go for it where the queue is full: the newest of who waits for most. */
  readonly add: (client: unknown, item: T) => T | undefined;
  readonly next: () => Waiting<T> | undefined;
  /** False: it waits no longer. */
  readonly remove: (item: T) => boolean;
  readonly spend: (client: unknown, milliseconds: number) => void;
  readonly size: () => number;
};

/** Clients whose use is remembered. */
const MAX_CLIENTS = 10_000;

export const openFairQueue = <T>(capacity: number): FairQueue<T> => {
  let waiting: Waiting<T>[] = [];
  const used = new Map<unknown, number>();
  let floor = 0;
  const usedBy = (client: unknown): number => Math.max(used.get(client) ?? 0, floor);

  /** The newest item of the client that waits for most; of equals, the item that came last. */
  const greediest = (): Waiting<T> => {
    const counts = new Map<unknown, number>();
    for (const { client } of waiting) counts.set(client, (counts.get(client) ?? 0) + 1);
    return waiting.reduce((worst, each) =>
      (counts.get(each.client) ?? 0) >= (counts.get(worst.client) ?? 0) ? each : worst,
    );
  };
  return {
    add: (client, item) => {
      waiting.push({ client, item });
      if (waiting.length <= capacity) return undefined;
      const dropped = greediest();
      waiting = waiting.filter((each) => each !== dropped);
      return dropped.item;
    },
    next: () => {
      const [first] = waiting;
      if (first === undefined) return undefined;
      const chosen = waiting.reduce((best, each) =>
        usedBy(each.client) < usedBy(best.client) ? each : best,
      );
      waiting = waiting.filter((each) => each !== chosen);
      floor = usedBy(chosen.client);
      return chosen;
    },
    remove: (item) => {
      const before = waiting.length;
      waiting = waiting.filter((each) => each.item !== item);
      return waiting.length < before;
    },
    spend: (client, milliseconds) => {
      const total = usedBy(client) + milliseconds;
      used.delete(client);
      used.set(client, total);
      const [oldest] = used.keys();
      if (used.size > MAX_CLIENTS) used.delete(oldest);
    },
    size: () => waiting.length,
  };
};
