import { fail } from '@stemma/errors';
import type { StepOf } from '../command.ts';
import { refuseVectors } from '../recorded-vectors.ts';
import { checkNotes } from '../texts.ts';
import { emit, type PendingFrame } from './pending-frame.ts';

/**
 * Records the vectors of texts (pool §1.7).
 *
 * @throws E_VECTORS for a number that is none, a text that is named twice, and bytes that are not all of these vectors
 */
export const decideVectors = (
  pending: PendingFrame,
  { embedder, dimension, texts, vectors }: StepOf<'record_vectors'>,
): void => {
  const event = {
    type: 'VectorsRecorded' as const,
    embedder: checkNotes(embedder, 'the name of the embedder'),
    dimension,
    texts,
    payload: { data_vectors: vectors },
  };
  const wrong = refuseVectors(event);
  if (wrong !== null) throw fail('E_VECTORS', wrong);
  emit(pending, event);
};
