import { lowerBound } from '@stemma/canonical';

/** Rows by their key's bytes (as a text of one character a byte), in order. */
export type SortedRows = {
  get(key: string): Uint8Array | undefined;
  put(key: string, value: Uint8Array): void;
  remove(key: string): void;
  /** Keys from `start` on and before `end`. */
  range(start: string, end: string | undefined, reverse: boolean, limit: number): [string, Uint8Array][];
  bytes(): number;
};

/** A map with its keys in order; after new keys, the next read sorts again. */
export const sortedRows = (): SortedRows => {
  const rows = new Map<string, Uint8Array>();
  let order: string[] = [];
  let stale = false;

  const ordered = (): string[] => {
    if (stale) {
      order = [...rows.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      stale = false;
    }
    return order;
  };

  return {
    get: (key) => rows.get(key),
    put(key, value) {
      if (!rows.has(key)) {
        if (!stale && order.length > 0 && key > (order.at(-1) as string)) order.push(key);
        else stale = true;
      }
      rows.set(key, value);
    },
    remove(key) {
      if (rows.delete(key)) stale = true;
    },
    range(start, end, reverse, limit) {
      const keys = ordered();
      const from = lowerBound(0, keys.length, (i) => (keys[i] as string) < start);
      const to =
        end === undefined ? keys.length : lowerBound(from, keys.length, (i) => (keys[i] as string) < end);
      const found: [string, Uint8Array][] = [];
      for (let i = 0; i < to - from && found.length < limit; i++) {
        const key = keys[reverse ? to - 1 - i : from + i] as string;
        found.push([key, rows.get(key) as Uint8Array]);
      }
      return found;
    },
    bytes: () => [...rows].reduce((sum, [key, value]) => sum + key.length + value.length, 0),
  };
};
