import { EMBEDDER, embedText } from '@stemma/analysis';
import { echo, fail } from '@stemma/errors';
import { openEmbedder, parseEmbedder } from '@stemma/model-clients';
import type { MindsOptions } from '@stemma/agent-loop';

/** Where the vectors of an embedder come from. */
export type EmbedderKind =
  /** Stemma computes them when a text comes, and records none. */
  | 'built-in'
  /** An endpoint is asked for them once; they are recorded. */
  | 'endpoint'
  /** Somebody brings them; nobody is asked. */
  | 'outside';

const OUTSIDE = /^outside:[^\p{Cc}\s]{1,128}$/u;

/** The kind of an embedder. @throws E_EMBEDDER_INVALID for a name that is none */
export const embedderKind = (spec: string): EmbedderKind => {
  if (spec === EMBEDDER) return 'built-in';
  if (OUTSIDE.test(spec)) return 'outside';
  if (spec.startsWith('outside:'))
    throw fail(
      'E_EMBEDDER_INVALID',
      `${JSON.stringify(echo(spec))} names no embedder: behind outside: stand 1 to 128 characters without spaces`,
    );
  parseEmbedder(spec);
  return 'endpoint';
};

/** Who asks an endpoint for vectors. */
export type EmbeddingOptions = { readonly minds?: MindsOptions; readonly signal?: AbortSignal };

/**
 * The vectors of texts by an embedder: those of the built-in one are computed, for those of an endpoint it is asked.
 *
 * @param dimension the numbers that a vector must have; null: any
 * @throws E_EMBEDDER_INVALID for one whose vectors are brought, E_MIND_NOT_ALLOWED, and as `openEmbedder` and `embed`
 */
export const embedWith = async (
  spec: string,
  texts: readonly string[],
  dimension: number | null,
  { minds: { allow, ...around } = {}, signal = new AbortController().signal }: EmbeddingOptions,
): Promise<readonly Float32Array[]> => {
  const kind = embedderKind(spec);
  if (kind === 'built-in') return texts.map(embedText);
  if (kind === 'outside')
    throw fail(
      'E_EMBEDDER_INVALID',
      `vectors of ${spec} are brought by somebody, so that nobody can be asked for those of a text`,
    );
  allow?.(spec);
  return openEmbedder(spec, around).embed(texts, dimension, signal);
};
