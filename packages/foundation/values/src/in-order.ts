/**
 * Gives results in the order of the calls, though the work for one of them takes longer: commands on one history are
 * decided in that order.
 */
export const inOrder = <T>(): ((work: Promise<T>) => Promise<T>) => {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = before.then(() => work);
    before = turn.catch(() => undefined);
    work.catch(() => undefined); // reported where the turn is awaited
    return turn;
  };
};

/** The same for work that begins when what was asked for before under its key has ended, well or not. */
export const inOrderByKey = (): (<T>(key: string, work: () => Promise<T>) => Promise<T>) => {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const done = (last.get(key) ?? Promise.resolve()).then(work);
    const settled = done
      .catch(() => undefined)
      .finally(() => {
        if (last.get(key) === settled) last.delete(key);
      });
    last.set(key, settled);
    return done;
  };
};
