import { mapVectors, unitVectors, vectorsFrom, principalComponents, seededRandom } from '@stemma/analysis';
import type { ContractAnswer } from '../answer.ts';
import { embeddedAt } from '../embedded-at.ts';

export const poolMap: ContractAnswer<'poolMap'> = async ({ home }, { seed = 0, ...where }) => {
  const { position, messages } = await embeddedAt(home, where);
  // Messages of one text lie on one point: a vector is that of a text.
  const rowOf = new Map<string, number>();
  const vectors: Float32Array[] = [];
  const rows = messages.map(({ contentHash, vector }) => {
    const key = Buffer.from(contentHash).toString('base64');
    const known = rowOf.get(key);
    if (known !== undefined) return known;
    rowOf.set(key, vectors.length);
    return vectors.push(vector) - 1;
  });
  const method = vectors.length <= MOST_IN_UMAP ? 'umap' : 'components';
  const points =
    vectors.length === 0
      ? []
      : method === 'umap'
        ? mapVectors(unitVectors(vectorsFrom(vectors)), { seed })
        : principalComponents(unitVectors(vectorsFrom(vectors)), seededRandom(seed));
  return {
    position,
    seed,
    method,
    texts: vectors.length,
    ids: messages.map(({ node }) => node),
    x: rows.map((row) => rounded(points[row]?.[0] ?? 0)),
    y: rows.map((row) => rounded(points[row]?.[1] ?? 0)),
  };
};

/** UMAP is computed for so many texts at most: its time grows with their square. */
const MOST_IN_UMAP = 1_500;

/** More digits than a screen shows would only make the answer longer. */
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
