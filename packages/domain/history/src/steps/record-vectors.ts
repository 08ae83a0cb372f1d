import { fail } from '@stemma/errors';
import { embedderName, MOST_DIMENSION, MOST_VECTORS, textHash } from '@stemma/events';
import { z } from 'zod';
import { refuseVectors } from '../recorded-vectors.ts';
import { checkNotes } from '../texts.ts';
import { defineStep } from './step.ts';

/**
 * Records vectors of texts, which are named by the SHA-256 of their UTF-8 in hexadecimal (pool §1.7). `vectors`: base64 of their numbers in
 * the same order, single precision, little-endian. It changes no tree.
 *
 * @throws E_VECTORS for a number that is none, a text that is named twice, and bytes that are not all of these vectors
 */
export const recordVectors = defineStep({
  op: 'record_vectors',
  schema: z.strictObject({
    op: z.literal('record_vectors'),
    embedder: embedderName,
    dimension: z.int().min(1).max(MOST_DIMENSION),
    texts: z.array(textHash).min(1).max(MOST_VECTORS),
    vectors: z.string(),
  }),
  on: 'its branch',
  kind: 'edit',
  along: true,
  secrets: { embedder: 'name', dimension: 'none', texts: 'none', vectors: 'none' },
  *decide(_pending, { embedder, dimension, texts, vectors }) {
    const event = {
      type: 'VectorsRecorded' as const,
      embedder: checkNotes(embedder, 'the name of the embedder'),
      dimension,
      texts,
      payload: { data_vectors: vectors },
    };
    const wrong = refuseVectors(event);
    if (wrong !== null) throw fail('E_VECTORS', wrong);
    yield event;
  },
});
