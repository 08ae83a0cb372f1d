/** One run of something for all who ask while it lasts, and for so many milliseconds after it; a failure is not kept. */
export const sharedFor = <T>(
  milliseconds: number,
  run: () => Promise<T>,
  now: () => number = () => performance.now(),
): (() => Promise<T>) => {
  let current: Promise<T> | undefined;
  let until = Infinity;
  return () => {
    if (current !== undefined && now() < until) return current;
    until = Infinity;
    const started = (current = run());
    started.then(
      () => (until = now() + milliseconds),
      () => (current = undefined),
    );
    return started;
  };
};
