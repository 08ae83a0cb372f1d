import { setTimeout as sleep } from 'node:timers/promises';

/** What a gateway counts: the number that a line has, which is 0 before there is one. */
export const readMetrics = async (url: string): Promise<(line: RegExp) => number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return (line) => Number(line.exec(text)?.[1] ?? 0);
};

/** How many calls a gateway has recorded. */
export const recordedCalls = async (url: string): Promise<number> => {
  const value = await readMetrics(url);
  return value(/^stemma_proxied_calls_total\{[^}]*outcome="recorded"[^}]*\} (\d+)$/m);
};

/** Resolves when a gateway has recorded so many calls. */
export const untilRecorded = async (url: string, calls: number): Promise<void> => {
  const until = performance.now() + 600_000;
  while ((await recordedCalls(url)) < calls) {
    if (performance.now() > until) throw new Error('the calls were not recorded in ten minutes');
    await sleep(20);
  }
};
