import { spread, type Spread } from '../measure.ts';

/** One way of appending, measured once: events in a second, and milliseconds of one durable append. */
export type Appending = { readonly eventsPerSecond: number; readonly append: Spread };

export type AppendInput = {
  readonly directory: string;
  /** Events in one durable append. */
  readonly group: number;
  readonly seconds: number;
};

/** @param series milliseconds of each append of `group` events, one after the other */
export const appending = (series: readonly number[], group: number): Appending => ({
  eventsPerSecond: (series.length * group * 1_000) / series.reduce((sum, ms) => sum + ms, 0),
  append: spread(series),
});

/** How often an append is repeated: for the given time, but not so seldom that a p99 means nothing. */
export const repetitions = (
  input: AppendInput,
): { readonly seconds: number; readonly atLeast: number; readonly atMost: number } => ({
  seconds: input.seconds,
  atLeast: 20,
  atMost: Math.floor(400_000 / input.group),
});
