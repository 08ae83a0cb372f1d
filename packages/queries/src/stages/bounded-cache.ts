/** Values by key, the ones that were used last, as many as their weights together allow. */
export type BoundedCache<T> = {
  get(key: string): T | undefined;
  put(key: string, value: T, weight: number): void;
};

export const openBoundedCache = <T>(maxWeight: number): BoundedCache<T> => {
  /** Oldest first. */
  const cached = new Map<string, { readonly value: T; readonly weight: number }>();
  let total = 0;
  const drop = (key: string): void => {
    total -= cached.get(key)?.weight ?? 0;
    cached.delete(key);
  };
  return {
    get(key) {
      const entry = cached.get(key);
      if (entry === undefined) return undefined;
      cached.delete(key);
      cached.set(key, entry);
      return entry.value;
    },
    put(key, value, weight) {
      drop(key);
      if (weight > maxWeight) return;
      cached.set(key, { value, weight });
      total += weight;
      for (const [oldest] of cached) {
        if (total <= maxWeight) return;
        drop(oldest);
      }
    },
  };
};
