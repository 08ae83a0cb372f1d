import { copyRunning, type Running } from './running.ts';

/** Running hashes of streams by what stands in them: whoever finds one has what the rows would give, only sooner. */
export type KeptStates = {
  /** The state behind a chain, which is the caller's own from here on. */
  take(chain: string): Running | undefined;
  /** A copy, for a lineage that parts from another. */
  copy(chain: string): Running | undefined;
  keep(chain: string, running: Running): void;
};

/** Of a state without its ids: three hashes of the platform, and what JavaScript needs for them. */
const STATE_BYTES = 4_096;

/** Keeps up to so many bytes; the state that was used longest ago goes first. */
export const keptStates = (bytes: number): KeptStates => {
  const states = new Map<string, Running>();
  let held = 0;
  const take = (chain: string): Running | undefined => {
    const running = states.get(chain);
    if (running === undefined) return undefined;
    states.delete(chain);
    held -= weightOf(running);
    return running;
  };
  return {
    take,
    copy(chain) {
      const running = states.get(chain);
      return running === undefined ? undefined : copyRunning(running);
    },
    keep(chain, running) {
      take(chain);
      states.set(chain, running);
      held += weightOf(running);
      for (const oldest of states.keys()) {
        if (held <= bytes) break;
        take(oldest);
      }
    },
  };
};

const weightOf = ({ ids }: Running): number => STATE_BYTES + ids.length;
