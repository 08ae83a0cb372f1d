import type { Generation, RowStore } from '@stemma/row-store';
import { findName, signatureOf, tablesOf } from '../generations.ts';
import { MAIN_GROUP } from '../groups.ts';

/** The rows that projectors in other processes write. */
export type ExternalGeneration = {
  /** The current one; before the first is, one that is not promoted yet, or a name without rows. */
  find(): Promise<Generation>;
  /** It is looked up again. */
  forget(): void;
};

/** Milliseconds after which the generation is looked up again: another may have become current. */
const GENERATION_MAX_AGE = 1_000;

export const openExternalGeneration = (store: RowStore, now: () => number): ExternalGeneration => {
  const { name: group, models, keepFrames } = MAIN_GROUP;
  const signature = signatureOf(models, keepFrames);
  let known: { readonly generation: Generation; readonly at: number } | undefined;
  return {
    async find() {
      const before = known;
      if (before !== undefined && now() - before.at < GENERATION_MAX_AGE) return before.generation;
      const { name } = await findName(store, group, signature);
      const generation =
        before?.generation.name === name
          ? before.generation
          : await store.generation(name, tablesOf(models, keepFrames));
      known = { generation, at: now() };
      return generation;
    },
    forget() {
      known = undefined;
    },
  };
};
