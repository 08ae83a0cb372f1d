import type { FoldContext } from '@stemma/projector';
import type { Generation } from '@stemma/row-store';
import { openPartFolder, type FoldedRows, type FramePart } from './part-folder.ts';

/** Folds parts in the thread that it is called in, one after the other, beside whatever else that thread does. */
export type PartsHere = {
  /** Undefined if the part is to be folded without threads: it is not as usual, or in an error, which is met then. */
  fold(part: () => FramePart): Promise<FoldedRows | undefined>;
  /** The rows of all windows up to this one are committed. */
  committed(window: number): Promise<void>;
  /** Forgets all that is not committed. What was asked for before is undefined. */
  reset(): void;
};

export const openPartsHere = (generation: Generation, context: FoldContext): PartsHere => {
  const folder = openPartFolder({ context, rows: () => generation.source() });
  let folding: Promise<unknown> = Promise.resolve();
  let run = 0;
  return {
    fold(part) {
      const of = run;
      const mine = folding.then(async () => {
        if (of !== run) return undefined;
        try {
          const folded = await folder.fold(part());
          return of !== run || folded.counts.defects > 0 ? undefined : folded;
        } catch {
          return undefined;
        }
      });
      folding = mine;
      return mine;
    },
    async committed(window) {
      // From here on reads see what was committed, in this thread or another.
      await generation.read(() => undefined);
      folder.committed(window);
    },
    reset() {
      run++;
      folding = folding.then(() => folder.reset());
    },
  };
};
