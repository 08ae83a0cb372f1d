/** Aborts when the process is told to end (SIGTERM, SIGINT). A second signal ends it at once, as if nobody listened. */
export const untilEnded = (): AbortSignal => {
  const ended = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => ended.abort(name));
  return ended.signal;
};

/**
 * Runs what a service has to finish before it ends, and ends the process with 70 where that takes longer than so many
 * milliseconds: who is told to end and does not, is killed in the middle.
 */
export const finishWithin = async (milliseconds: number, finish: () => Promise<void>): Promise<void> => {
  const timer = setTimeout(() => {
    process.stderr.write(`not finished within ${milliseconds / 1000} s of being told to end\n`);
    process.exit(70);
  }, milliseconds);
  timer.unref();
  await finish();
  clearTimeout(timer);
};
