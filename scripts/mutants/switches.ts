import { SWITCH } from './schemata.ts';

/** Which mutant is switched on, and which ones the program came past. */
export type Switches = {
  /** Switches a mutant on, 0: none. After `most` passes through it an endless loop is ended by an error. */
  readonly activate: (mutant: number, most: number) => void;
  /** The mutants passed since the last call, and how often. */
  readonly takePassed: () => ReadonlyMap<number, number>;
};

/** Puts the function that all switches call into this process. */
export const installSwitches = (): Switches => {
  let active = 0;
  let left = Infinity;
  let passed = new Map<number, number>();
  const isActive = (mutant: number): boolean => {
    if (active === 0) passed.set(mutant, (passed.get(mutant) ?? 0) + 1);
    if (mutant !== active) return false;
    if (--left < 0) throw new Error(`mutant ${mutant} is passed without end`);
    return true;
  };
  Object.assign(globalThis, { [SWITCH]: isActive });
  return {
    activate: (mutant, most) => {
      active = mutant;
      left = most;
    },
    takePassed: () => {
      const taken = passed;
      passed = new Map();
      return taken;
    },
  };
};
