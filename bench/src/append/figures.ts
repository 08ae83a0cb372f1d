import { repeat, spread, type Spread } from '../measure.ts';

/** One way of appending, measured once: events in a second, and milliseconds of one durable append. */
export type Appending = { readonly eventsPerSecond: number; readonly append: Spread };

export type AppendInput = {
  readonly directory: string;
  /** Events in one durable append. */
  readonly group: number;
  readonly seconds: number;
};

/**
 * Appends groups one after the other: first for as long as is measured then, so that every way is warm.
 *
 * @param append one group, by how many were appended before
 */
export const measureAppends = async (
  input: AppendInput,
  append: (before: number) => Promise<unknown>,
): Promise<Appending> => {
  const limits = repetitions(input);
  const { length: before } = await repeat(limits, append);
  const series = await repeat(limits, (repetition) => append(before + repetition));
  return {
    eventsPerSecond: (series.length * input.group * 1_000) / series.reduce((sum, ms) => sum + ms, 0),
    append: spread(series),
  };
};

/** The most groups that {@link measureAppends} appends. */
export const mostAppends = (input: AppendInput): number => 2 * repetitions(input).atMost;

/** How often an append is repeated: for the given time, but not so seldom that a p99 means nothing. */
const repetitions = (
  input: AppendInput,
): { readonly seconds: number; readonly atLeast: number; readonly atMost: number } => ({
  seconds: input.seconds,
  atLeast: 20,
  atMost: Math.floor(400_000 / input.group),
});
