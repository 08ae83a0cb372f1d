import { endProcess } from '@stemma/machine';

/** Aborts when the process gets SIGTERM or SIGINT. A second signal ends the process at once, as it does by default. */
export const untilEnded = (): AbortSignal => {
  const ended = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => ended.abort(name));
  return ended.signal;
};

/**
 * Runs what a service must finish before it ends. If that takes longer than `milliseconds`, it ends the process with exit
 * code 70, because a service manager would soon kill it in the middle.
 */
export const finishWithin = async (milliseconds: number, finish: () => Promise<void>): Promise<void> => {
  const timer = setTimeout(() => {
    process.stderr.write(`not finished within ${milliseconds / 1000} s of being told to end\n`);
    endProcess(70);
  }, milliseconds);
  timer.unref();
  await finish();
  clearTimeout(timer);
};
