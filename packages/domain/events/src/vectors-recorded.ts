import { z } from 'zod';
import { payloadValue } from './node-shape.ts';

/** The most numbers that a vector has. */
export const MOST_DIMENSION = 65_536;

/** The most texts whose vectors one event holds. */
export const MOST_VECTORS = 10_000;

/** What names the embedder of a vector: a built-in one, `openai:MODEL` with `@URL` or not, `outside:NAME`. */
export const embedderName = z.string().min(1).max(512);

/** SHA-256 of a text's UTF-8, in hexadecimal. */
export const textHash = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * Texts have vectors by an embedder (pool §1.7, §6.11). The payload holds `data_vectors`: the numbers of all texts, in their order, as
 * base64 of single-precision floats, little-endian. The first vector that a history records for a text and an embedder counts.
 */
export const VectorsRecorded = z.strictObject({
  type: z.literal('VectorsRecorded'),
  embedder: embedderName,
  /** The numbers of each vector. */
  dimension: z.int().min(1).max(MOST_DIMENSION),
  texts: z.array(textHash).min(1).max(MOST_VECTORS),
  payload: z.record(z.string(), payloadValue),
});
export type VectorsRecorded = z.infer<typeof VectorsRecorded>;
