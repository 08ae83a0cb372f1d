/** Work that is done a little after it is asked for, once for many askings. */
export type Background = {
  schedule(): void;
  /** Resolves when nothing is under way; later askings do nothing. */
  close(): Promise<void>;
};

/** Milliseconds after a write until the rows catch up, unless a read comes before. */
const DELAY = 20;

/** Errors of the work are not reported here: the next read throws them. */
export const openBackground = (work: () => Promise<void>): Background => {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let closed = false;
  return {
    schedule: () => {
      if (closed || timer !== undefined) return;
      timer = setTimeout(() => {
        // Whoever asks before the work begins is served by it.
        const begin = (): Promise<void> => {
          timer = undefined;
          return work();
        };
        running = running.then(begin).catch(() => undefined);
      }, DELAY);
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
};
