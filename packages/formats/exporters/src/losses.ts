import { compareCodePoints, type WideJsonObject } from '@stemma/canonical';

/** What an export leaves out, by name: `thinking`, `parameter seed`. */
export type Losses = {
  readonly add: (what: string, count?: number) => void;
  /** By name. */
  readonly list: () => readonly { readonly what: string; readonly count: number }[];
};

/** So many names are told apart; all further ones are `other`. */
const MOST_NAMES = 200;
const LONGEST_NAME = 100;

export const openLosses = (): Losses => {
  const counts = new Map<string, number>();
  return {
    add: (what, count = 1) => {
      if (count <= 0) return;
      const name = what.slice(0, LONGEST_NAME);
      const key = counts.has(name) || counts.size < MOST_NAMES ? name : 'other';
      counts.set(key, (counts.get(key) ?? 0) + count);
    },
    list: () =>
      [...counts].sort(([a], [b]) => compareCodePoints(a, b)).map(([what, count]) => ({ what, count })),
  };
};

/**
 * Where to count what a message of a prompt loses: that of an answer is counted with its call, and it is shown once more to those after
 * it.
 */
export const openPromptLosses = (lost: Losses): ((message: WideJsonObject) => Losses) => {
  const counted = openLosses();
  return ({ role }) => (role === 'assistant' ? counted : lost);
};
