import { Presets, SingleBar } from 'cli-progress';

/** A progress display on stderr; silent when no person sits there. */
export type Progress = {
  readonly count: (done: number, total?: number) => void;
  readonly end: () => void;
};

/** Opens a bar (when totals come) or a counter of `unit`. */
export const openProgress = (unit: string): Progress => {
  if (!process.stderr.isTTY) return { count: () => undefined, end: () => undefined };
  const bar = new SingleBar(
    {
      stream: process.stderr,
      hideCursor: true,
      clearOnComplete: true,
      format: `{bar} {value}/{total} ${unit}`,
      etaBuffer: 50,
    },
    Presets.shades_classic,
  );
  let started = false;
  return {
    count: (done, total = 0) => {
      if (!started) bar.start(Math.max(total, done, 1), done);
      else bar.setTotal(Math.max(total, done, 1));
      started = true;
      bar.update(done);
    },
    end: () => {
      if (started) bar.stop();
    },
  };
};
