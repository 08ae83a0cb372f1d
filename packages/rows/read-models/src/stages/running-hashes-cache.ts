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

/** A cache of at most this many bytes; it evicts the state used longest ago first. */
export const openRunningHashesCache = (bytes: number): RunningHashesCache => {
  const states = new Map<string, RunningHashes>();
  let usedBytes = 0;
  const take = (chainHash: string): RunningHashes | undefined => {
    const running = states.get(chainHash);
    if (running === undefined) return undefined;
    states.delete(chainHash);
    usedBytes -= STATE_BYTES;
    return running;
  };
  return {
    take,
    copy(chainHash) {
      const running = states.get(chainHash);
      return running === undefined ? undefined : copyRunningHashes(running);
    },
    put(chainHash, running) {
      take(chainHash);
      states.set(chainHash, running);
      usedBytes += STATE_BYTES;
      for (const oldest of states.keys()) {
        if (usedBytes <= bytes) break;
        take(oldest);
      }
    },
  };
};
