import type { Generation, RowStore } from '@stemma/row-store';
import { currentName, nextName, signatureOf, tablesOf, unfinishedNames } from '../generations.ts';
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
  /** The name of a generation that is not promoted yet; if no projector has begun, a name without rows. */
  const unfinishedName = async (): Promise<string> => {
    const current = await store.current(group);
    const [name] = await unfinishedNames(store, signature, current);
    return name ?? nextName(store, signature, current);
  };
  return {
    async find() {
      const before = known;
      if (before !== undefined && now() - before.at < GENERATION_MAX_AGE) return before.generation;
      const current = (await currentName(store, group, signature)) ?? (await unfinishedName());
      const generation =
        before?.generation.name === current
          ? before.generation
          : await store.generation(current, tablesOf(models, keepFrames));
      known = { generation, at: now() };
      return generation;
    },
    forget() {
      known = undefined;
    },
  };
};
