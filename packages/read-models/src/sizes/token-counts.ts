import type { EventRef } from '@stemma/context-tree';

/** Tokens of contents by the events that hold them: what was counted stays true, so a hit changes no result. */
export type TokenCounts = {
  get(history: string, ref: EventRef): number | undefined;
  set(history: string, ref: EventRef, tokens: number): void;
};

/** The counts of the newest contents, of as many at least and at most twice as many. */
export const openTokenCounts = (least: number): TokenCounts => {
  let [older, newer] = [new Map<string, number>(), new Map<string, number>()];
  const keyOf = (history: string, { seq, index }: EventRef): string => `${seq}.${index} ${history}`;
  return {
    get: (history, ref) => newer.get(keyOf(history, ref)) ?? older.get(keyOf(history, ref)),
    set(history, ref, tokens) {
      if (newer.size >= least) [older, newer] = [newer, new Map<string, number>()];
      newer.set(keyOf(history, ref), tokens);
    },
  };
};
