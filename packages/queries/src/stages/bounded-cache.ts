/** Values by key, the ones that were used last, as many as their weights together allow. */
export type BoundedCache<T> = {
  get(key: string): T | undefined;
  put(key: string, value: T, weight: number): void;
};

export const boundedCache = <T>(most: number): BoundedCache<T> => {
  /** Oldest first. */
  const kept = new Map<string, { readonly value: T; readonly weight: number }>();
  let total = 0;
  const drop = (key: string): void => {
    total -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      kept.delete(key);
      kept.set(key, entry);
      return entry.value;
    },
    put(key, value, weight) {
      drop(key);
      if (weight > most) return;
      kept.set(key, { value, weight });
      total += weight;
      for (const [oldest] of kept) {
        if (total <= most) return;
        drop(oldest);
      }
    },
  };
};
