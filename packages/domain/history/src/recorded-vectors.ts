import type { VectorsRecorded } from '@stemma/events';

/** The bytes of a number of a vector. */
const SIZE = 4;

/**
 * The vector of each text that an event names, as its bytes: single precision, little-endian (pool §1.7).
 *
 * @returns null for bytes that are not all of these vectors
 */
export const vectorsIn = ({
  dimension,
  texts,
  payload,
}: VectorsRecorded): readonly (readonly [text: string, vector: Uint8Array])[] | null => {
  const encoded = payload['data_vectors'];
  if (typeof encoded !== 'string') return null;
  const bytes = Buffer.from(encoded, 'base64');
  const size = dimension * SIZE;
  // What is no base64 is left out in silence where it is decoded.
  if (bytes.length !== texts.length * size || bytes.toString('base64') !== encoded) return null;
  return texts.map((text, i) => [text, bytes.subarray(i * size, (i + 1) * size)] as const);
};

/** Why an event holds no vectors that anybody can compute with; null: it does. */
export const refuseVectors = (event: VectorsRecorded): string | null => {
  const { texts, dimension } = event;
  if (new Set(texts).size !== texts.length) return 'a text is named twice';
  const vectors = vectorsIn(event);
  if (vectors === null)
    return `${texts.length} vectors of ${dimension} numbers are announced, and the bytes are not so many`;
  for (const [i, [, bytes]] of vectors.entries()) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let k = 0; k < dimension; k++)
      if (!Number.isFinite(view.getFloat32(k * SIZE, true)))
        return `vector ${i + 1} holds a number that is not finite (number ${k + 1} of ${dimension})`;
  }
  return null;
};
