import type { EnteredLock, LockEnvironment, PartitionEnd } from '@stemma/log-embedded';
import type { Dice } from './power.ts';

type LockState = { readonly boot: string | undefined; readonly ends: ReadonlyMap<number, PartitionEnd> };

/** The lock between simulated processes, as LMDB without syncs keeps it: a commit outlives its process, not a power loss. */
export type SimulatedLock = {
  readonly enter: (boot: string, step: () => void) => EnteredLock;
  readonly open: (boot: string, step: () => void) => LockEnvironment;
  /** Leaves the newest state, an older one, or none. */
  readonly losePower: () => void;
  /** The ends that readers see now; undefined until somebody has found them after a start of the machine. */
  readonly endIn: (boot: string, partition: number) => number | undefined;
};

const FOLDER = '/home/log/lock/1';
const EMPTY: LockState = { boot: undefined, ends: new Map() };

export const openSimulatedLock = (dice: Dice): SimulatedLock => {
  let states: LockState[] = [EMPTY];
  const latest = (): LockState => states.at(-1) ?? EMPTY;
  const open = (boot: string, step: () => void): LockEnvironment => ({
    end: (partition) => {
      step();
      return latest().ends.get(partition);
    },
    boot: () => {
      step();
      return latest().boot;
    },
    locked: (action) => {
      step();
      const ends = new Map(latest().ends);
      let mark = latest().boot;
      const result = action(
        (partition, end) => void ends.set(partition, end),
        () => (mark = boot),
      );
      step();
      states.push({ boot: mark, ends });
      return result;
    },
    isCurrent: () => true,
    isReplaced: () => false,
    close: async () => undefined,
  });
  return {
    open,
    enter: (boot, step) => {
      step();
      return {
        opened: open(boot, step),
        folder: FOLDER,
        gate: {
          pass: (fn) => {
            step();
            return fn();
          },
        },
        isReplaced: () => false,
        leave: async () => undefined,
      };
    },
    losePower: () => {
      const left = dice.int(3);
      const older = states[dice.int(states.length)] ?? EMPTY;
      states = [left === 0 ? latest() : left === 1 ? older : EMPTY];
    },
    endIn: (boot, partition) => (latest().boot === boot ? latest().ends.get(partition)?.end : undefined),
  };
};
