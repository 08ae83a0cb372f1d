import { sha256Hex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { MOST_VECTORS, type Author } from '@stemma/events';
import type { Step } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';
import { embedderKind, embedWith, type EmbeddingOptions } from './embedder.ts';

/** Texts with a vector each, all of one dimension. */
export type TextVector = { readonly textHash: string; readonly vector: Float32Array };

/** The name of a text: the SHA-256 of its UTF-8, in hexadecimal. */
export const textHashOf = (text: string): string => sha256Hex(Buffer.from(text));

/** The bytes of the vectors that one step records. */
const MOST_BYTES = 24 * 1024 * 1024;

/** The steps that record vectors, each text once. */
export const stepsOfVectors = (embedder: string, vectors: readonly TextVector[]): readonly Step[] => {
  const [first] = vectors;
  if (first === undefined) return [];
  const dimension = first.vector.length;
  const each = new Map(vectors.map((one) => [one.textHash, one.vector]));
  const all = [...each];
  const most = Math.max(1, Math.min(MOST_VECTORS, Math.floor(MOST_BYTES / (dimension * 4))));
  return Array.from({ length: Math.ceil(all.length / most) }, (_, i): Step => {
    const part = all.slice(i * most, (i + 1) * most);
    const bytes = Buffer.alloc(part.length * dimension * 4);
    for (const [row, [, vector]] of part.entries())
      for (let k = 0; k < dimension; k++) bytes.writeFloatLE(vector[k] ?? 0, (row * dimension + k) * 4);
    return {
      op: 'record_vectors',
      embedder,
      dimension,
      texts: part.map(([text]) => text),
      vectors: bytes.toString('base64'),
    };
  });
};

/**
 * The vectors that an endpoint gives to those of the texts that have none yet. Nothing is recorded.
 *
 * @returns none for an embedder that is no endpoint, and where every text has one
 * @throws as {@link embedWith}
 */
export const missingVectors = async (
  home: Pick<Home, 'queries'>,
  history: string,
  spec: string,
  texts: readonly string[],
  options: EmbeddingOptions,
): Promise<readonly TextVector[]> => {
  if (embedderKind(spec) !== 'endpoint' || texts.length === 0) return [];
  const different = [...new Set(texts)];
  const { dimension, vectors } = await home.queries.pools.vectors(history, spec, different);
  const missing = different.filter((_, i) => vectors[i] === null);
  if (missing.length === 0) return [];
  const made = await embedWith(spec, missing, dimension, options);
  return missing.map((text, i) => ({ textHash: textHashOf(text), vector: made[i] as Float32Array }));
};

/** @throws E_VECTORS for a vector of another dimension than the recorded ones, or than the first */
export const refuseDimension = (
  embedder: string,
  dimension: number | null,
  vectors: readonly TextVector[],
): void => {
  const expected = dimension ?? vectors[0]?.vector.length ?? 0;
  const other = vectors.find(({ vector }) => vector.length !== expected);
  if (other !== undefined)
    throw fail(
      'E_VECTORS',
      `a vector has ${other.vector.length} numbers; those of ${embedder} have ${expected}`,
    );
};

/**
 * Records vectors, in as many frames as they need. The ids of the commands follow from `id` and from the texts, so that the same vectors
 * sent twice have one effect.
 *
 * @returns the newest frame; null: there was nothing to record
 * @throws E_VECTORS if the history has vectors of another dimension by this embedder, and what `submit` throws
 */
export const recordVectors = async (
  home: Pick<Home, 'submit' | 'queries'>,
  { history, branchId }: BranchRef,
  {
    id,
    by,
    notes,
    embedder,
    vectors,
    expected,
  }: {
    readonly id: string;
    readonly by: Author;
    readonly notes?: string | undefined;
    readonly embedder: string;
    readonly vectors: readonly TextVector[];
    readonly expected?: number;
  },
): Promise<number | null> => {
  if (vectors.length === 0) return null;
  const { dimension } = await home.queries.pools.vectors(history, embedder, []);
  refuseDimension(embedder, dimension, vectors);
  let seq = expected ?? null;
  let newest: number | null = null;
  for (const step of stepsOfVectors(embedder, vectors)) {
    const { texts } = step as Extract<Step, { op: 'record_vectors' }>;
    const outcome = await home.submit({
      id: `${id}.vectors.${sha256Hex(Buffer.from(texts.join(' '))).slice(0, 16)}`,
      history,
      branchId,
      by,
      ...(notes === undefined || notes === '' ? {} : { notes }),
      ...defined({ expected: seq ?? undefined }),
      steps: [step],
    });
    newest = outcome.seq;
    if (seq !== null) seq = newest;
  }
  return newest;
};
