import { timed } from '../measure.ts';

/** Milliseconds that a piece of work took on the clock and on processors, collection of garbage and all threads included. */
export type CpuTimes = { readonly wall: number; readonly cpu: number };

export const measureCpu = async <T>(
  work: () => Promise<T>,
): Promise<{ readonly spent: CpuTimes; readonly value: T }> => {
  const startedAt = process.cpuUsage();
  const { ms, value } = await timed(work);
  const { user, system } = process.cpuUsage(startedAt);
  return { spent: { wall: ms, cpu: (user + system) / 1_000 }, value };
};
