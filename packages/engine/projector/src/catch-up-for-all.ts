/**
 * Catches up once for all who ask before it has begun: what is in the log when it begins is at least what was there when
 * they asked. Who asks later has the next one.
 */
export const catchUpForAll = (
  catchUp: (partition: number | undefined) => Promise<void>,
): ((partition?: number) => Promise<void>) => {
  const running = new Map<number | undefined, Promise<unknown>>();
  const asked = new Map<number | undefined, Promise<void>>();
  return (partition) => {
    const known = asked.get(partition);
    if (known !== undefined) return known;
    const next = (running.get(partition) ?? Promise.resolve()).then(() => {
      asked.delete(partition);
      return catchUp(partition);
    });
    asked.set(partition, next);
    running.set(
      partition,
      next.catch(() => undefined),
    );
    return next;
  };
};
