import { type FoldContext, openBranchCache } from '@stemma/projector';
import type { Generation } from '@stemma/row-store';
import { encodedPart, type FoldedPart } from '../workers/part-folder.ts';
import { openPartsHere, type PartsHere } from '../workers/parts-here.ts';
import { receivedPart, type SentPart } from '../workers/sent-part.ts';

/** Folds the frames of sealed histories for the thread that commits them: their keys stay in the projector's thread. */
export type SealedParts = Omit<PartsHere, 'fold'> & {
  /** Undefined if it is to be folded by the projector, which meets the error then. */
  fold(part: SentPart): Promise<FoldedPart | undefined>;
};

export const openSealedParts = (
  generation: Generation,
  context: FoldContext,
  cacheBytes: number,
): SealedParts => {
  const parts = openPartsHere(generation, {
    ...context,
    decoded: undefined,
    branchCache: openBranchCache(cacheBytes),
  });
  return {
    ...parts,
    async fold(part) {
      const folded = await parts.fold(() => receivedPart(part));
      return folded && encodedPart(generation.tables, folded);
    },
  };
};
