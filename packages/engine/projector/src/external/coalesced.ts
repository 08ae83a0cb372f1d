/**
 * The same work, shared by all who ask before it begins: one run at a time, and one after it for those who ask meanwhile.
 * Whoever asks gets what a run gives that began after the call.
 */
export const coalesced = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const run = (): Promise<T> => {
    const mine = work().finally(() => {
      running = undefined;
    });
    running = mine;
    return mine;
  };
  return () => {
    if (running === undefined) return run();
    next ??= running
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  };
};
