/** The summary of a series of measurements. */
export type Spread = { readonly count: number; readonly median: number; readonly p99: number };

/** The value below which the part `p` (0…1) of the values lies: nearest rank, the smallest for 0. */
export const quantile = (values: readonly number[], p: number): number => {
  if (values.length === 0) throw new RangeError('there is no quantile of nothing');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)]!;
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The median of what was measured; not a number if nothing was. */
export const medianIfAny = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : median(values);

export const spread = (values: readonly number[]): Spread => ({
  count: values.length,
  median: median(values),
  p99: quantile(values, 0.99),
});

/** The first and the last tenth of a series, at least one value each. */
export const tenths = (values: readonly number[]): { readonly first: Spread; readonly last: Spread } => {
  const size = Math.max(1, Math.floor(values.length / 10));
  return { first: spread(values.slice(0, size)), last: spread(values.slice(-size)) };
};

/** Milliseconds a call takes. */
export const timed = async <T>(
  work: () => Promise<T> | T,
): Promise<{ readonly ms: number; readonly value: T }> => {
  const started = performance.now();
  const value = await work();
  return { ms: performance.now() - started, value };
};

/** Calls `work` for each number below `count`, so many at once. */
export const inParallel = async (
  count: number,
  atOnce: number,
  work: (number: number) => Promise<unknown>,
): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};

/**
 * Repeats a piece of work until the time is used up or `atMost` is reached, and at least `atLeast` times.
 *
 * @returns milliseconds of each repetition.
 */
export const repeat = async (
  limits: { readonly seconds: number; readonly atLeast: number; readonly atMost: number },
  work: (repetition: number) => Promise<unknown>,
): Promise<number[]> => {
  const series: number[] = [];
  const deadline = performance.now() + limits.seconds * 1000;
  while (series.length < limits.atMost && (series.length < limits.atLeast || performance.now() < deadline)) {
    const repetition = series.length;
    series.push((await timed(() => work(repetition))).ms);
  }
  return series;
};
