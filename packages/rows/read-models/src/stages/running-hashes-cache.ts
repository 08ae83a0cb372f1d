import { RecentMap } from '@stemma/values';
import { copyRunningHashes, type RunningHashes } from './running-hashes.ts';

/** A cache of the running hashes of streams, by their content: a hit equals what the rows would give. */
export type RunningHashesCache = {
  /** The state at the end of a stream; the caller owns it from here on. */
  take(chainHash: string): RunningHashes | undefined;
  /** A copy, for a branch that starts from another. */
  copy(chainHash: string): RunningHashes | undefined;
  put(chainHash: string, running: RunningHashes): void;
};

/** Bytes of a state: a hash object of the platform, measured roughly. */
const STATE_BYTES = 1_536;

/** A cache of at most this many bytes, and of the states used last that take half of them. */
export const openRunningHashesCache = (bytes: number): RunningHashesCache => {
  const states = new RecentMap<string, RunningHashes>(Math.floor(bytes / STATE_BYTES / 2));
  return {
    take(chainHash) {
      const running = states.peek(chainHash);
      states.delete(chainHash);
      return running;
    },
    copy(chainHash) {
      const running = states.peek(chainHash);
      return running === undefined ? undefined : copyRunningHashes(running);
    },
    put: (chainHash, running) => states.set(chainHash, running),
  };
};
