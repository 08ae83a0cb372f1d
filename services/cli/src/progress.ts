import { Presets, SingleBar } from 'cli-progress';
import { oneLine } from './output.ts';
import type { Terminal } from './surroundings.ts';

/** A progress display on stderr; silent when no person sits there. */
export type ProgressDisplay = {
  /** @throws the signal's reason once it has aborted: what counts is what can be cancelled. */
  readonly count: (done: number, total?: number) => void;
  readonly end: () => void;
};

/** Opens a bar (when totals come) or a counter of `unit`. */
export const openProgress = (unit: string, stderr: Terminal, signal: AbortSignal): ProgressDisplay => {
  if (stderr.isTTY !== true) return { count: () => signal.throwIfAborted(), end: () => undefined };
  const bar = new SingleBar(
    {
      stream: stderr,
      hideCursor: true,
      clearOnComplete: true,
      // A name of a file may stand in it, of which nothing steers the bar.
      format: `{bar} {value}/{total} ${oneLine(unit, 40).replaceAll('{', '(')}, {eta_formatted} left`,
      etaBuffer: 50,
    },
    Presets.shades_classic,
  );
  let started = false;
  return {
    count: (done, total = 0) => {
      signal.throwIfAborted();
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
