import { Presets, SingleBar } from 'cli-progress';
import { oneLine } from './output.ts';
import type { Terminal } from './surroundings.ts';

/** A progress display on stderr; silent when no person sits there. */
export type ProgressDisplay = {
  /** @throws the signal's reason once it has aborted: what counts is what can be cancelled. */
  readonly count: (done: number, total?: number) => void;
  readonly end: () => void;
};

/** Seconds as a person says them. @param seconds a text where it is not known yet */
const timeLeft = (seconds: unknown): string => {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return '…';
  const whole = Math.max(1, Math.round(seconds));
  return whole < 120 ? `${whole} s` : `${Math.round(whole / 60)} min`;
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
      formatTime: timeLeft,
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
