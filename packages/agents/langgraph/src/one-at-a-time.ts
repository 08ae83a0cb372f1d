/** Does work of the same key one after the other, in the order in which it is asked for. */
export type OneAtATime = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export const oneAtATime = (): OneAtATime => {
  const newest = new Map<string, Promise<void>>();
  return async (key, work) => {
    const own = (newest.get(key) ?? Promise.resolve()).then(work);
    const ended = own.then(nothing, nothing);
    newest.set(key, ended);
    try {
      return await own;
    } finally {
      if (newest.get(key) === ended) newest.delete(key);
    }
  };
};

const nothing = (): void => undefined;
