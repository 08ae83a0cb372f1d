import { LRUCache } from 'lru-cache';

/** Who asks: a connection, and the program that it belongs to, as far as that is known. */
export type Share = { readonly program: string; readonly connection: object | number | string };

/** What waits, and for whom. */
type Waiting<T> = Share & { readonly item: T };

/**
 * A queue that is fair to programs, and in a program to its connections: next is the question of the program that has
 * used least time, whoever asked first. Whoever is new begins with as much as the one who was served last, so that
 * nobody gains by coming anew.
 */
export type FairQueue<T> = {
  /** Adds an item, and gives the one that has to go for it where the queue is full: the newest of who waits for most. */
  readonly add: (share: Share, item: T) => T | undefined;
  /** @param may whether a program may have one more now; any unless said */
  readonly next: (may?: (program: string) => boolean) => Waiting<T> | undefined;
  /** False: it waits no longer. */
  readonly remove: (item: T) => boolean;
  readonly spend: (share: Share, milliseconds: number) => void;
  readonly size: () => number;
};

/** Programs, and connections, whose use is remembered. */
const MAX_REMEMBERED = 10_000;

export const openFairQueue = <T>(capacity: number): FairQueue<T> => {
  let waiting: Waiting<T>[] = [];
  const byProgram = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  const byConnection = new LRUCache<Share['connection'], number>({ max: MAX_REMEMBERED });
  let floor = 0;
  const usedBy = (program: string): number => Math.max(byProgram.get(program) ?? 0, floor);
  const connectionUse = ({ connection }: Share): number => byConnection.get(connection) ?? 0;

  /** The newest item of the connection that waits for most, in the program that waits for most; of equals, the last. */
  const greediest = (): Waiting<T> => {
    const counts = new Map<unknown, number>();
    const count = (key: unknown): number => counts.get(key) ?? 0;
    for (const { program, connection } of waiting)
      for (const key of [program, connection]) counts.set(key, count(key) + 1);
    return waiting.reduce((worst, each) => {
      const more = count(each.program) - count(worst.program);
      return more > 0 || (more === 0 && count(each.connection) >= count(worst.connection)) ? each : worst;
    });
  };
  return {
    add: ({ program, connection }, item) => {
      waiting.push({ program, connection, item });
      if (waiting.length <= capacity) return undefined;
      const dropped = greediest();
      waiting = waiting.filter((each) => each !== dropped);
      return dropped.item;
    },
    next: (may = () => true) => {
      const [first, ...others] = waiting.filter(({ program }) => may(program));
      if (first === undefined) return undefined;
      const chosen = others.reduce((best, each) => {
        const less = usedBy(each.program) - usedBy(best.program);
        const sooner = each.program === best.program && connectionUse(each) < connectionUse(best);
        return less < 0 || sooner ? each : best;
      }, first);
      waiting = waiting.filter((each) => each !== chosen);
      floor = usedBy(chosen.program);
      return chosen;
    },
    remove: (item) => {
      const before = waiting.length;
      waiting = waiting.filter((each) => each.item !== item);
      return waiting.length < before;
    },
    spend: (share, milliseconds) => {
      byProgram.set(share.program, usedBy(share.program) + milliseconds);
      byConnection.set(share.connection, connectionUse(share) + milliseconds);
    },
    size: () => waiting.length,
  };
};
