/** Things that wait, in their order. To take one costs the same however many wait. */
export type WaitingEntries<T> = {
  readonly add: (things: readonly T[]) => void;
  readonly take: () => T | undefined;
  readonly clear: () => void;
};

/** What was taken is cut off when it is this many, and more than what is left. */
const CUT = 1_024;

export const openWaitingEntries = <T>(): WaitingEntries<T> => {
  let waiting: (T | undefined)[] = [];
  let taken = 0;
  return {
    add: (things) => {
      for (const thing of things) waiting.push(thing);
    },
    take: () => {
      const next = waiting[taken];
      if (next === undefined) return undefined;
      waiting[taken++] = undefined;
      if (taken >= CUT && taken * 2 > waiting.length) {
        waiting = waiting.slice(taken);
        taken = 0;
      }
      return next;
    },
    clear: () => {
      [waiting, taken] = [[], 0];
    },
  };
};
