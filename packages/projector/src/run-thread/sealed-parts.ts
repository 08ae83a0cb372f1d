import type { Generation } from '@stemma/row-store';
import { openBranchCache } from '../branch-cache.ts';
import type { FoldContext } from '../fold-frames.ts';
import { openPartFolder, type FoldedPart } from '../workers/part-folder.ts';
import { receivedPart, type SentPart } from '../workers/sent-part.ts';

/** Folds the frames of sealed histories for the thread that commits them: their keys stay in the projector's thread. */
export type SealedParts = {
  /** Undefined if it is to be folded by the projector, which meets the error then. */
  fold(part: SentPart): Promise<FoldedPart | undefined>;
  /** The rows of all windows up to this one are committed. */
  committed(window: number): Promise<void>;
  /** Forgets all that is not committed. What was asked for before is undefined. */
  reset(): void;
};

export const openSealedParts = (
  generation: Generation,
  context: FoldContext,
  cacheBytes: number,
): SealedParts => {
  const folder = openPartFolder({
    context: { ...context, decoded: undefined, branchCache: openBranchCache(cacheBytes) },
    tables: generation.tables,
    rows: () => generation.source(),
  });
  let folding: Promise<unknown> = Promise.resolve();
  let run = 0;
  return {
    fold(part) {
      const of = run;
      const mine = folding.then(async () => {
        if (of !== run) return undefined;
        try {
          const folded = await folder.fold(receivedPart(part));
          return folded.counts.defects > 0 ? undefined : folded;
        } catch {
          return undefined;
        }
      });
      folding = mine;
      return mine;
    },
    async committed(window) {
      folder.committed(window);
      // From here on reads see what another thread has committed.
      await generation.read(() => undefined);
    },
    reset() {
      run++;
      folding = folding.then(() => folder.reset());
    },
  };
};
