import { timed } from '../measure.ts';

/** Milliseconds that a piece of work took on the clock and on processors, collection of garbage and all threads included. */
export type Spent = { readonly wall: number; readonly cpu: number };

export const spent = async <T>(
  work: () => Promise<T>,
): Promise<{ readonly spent: Spent; readonly value: T }> => {
  const begun = process.cpuUsage();
  const { ms, value } = await timed(work);
  const { user, system } = process.cpuUsage(begun);
  return { spent: { wall: ms, cpu: (user + system) / 1_000 }, value };
};
