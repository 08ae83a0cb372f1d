import { fail } from '@stemma/errors';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { checkActor, checkNotes } from '@stemma/history';
import { tipOf } from '@stemma/agent-loop';
import { embedderKind, type EmbeddingOptions } from './embedder.ts';
import { readPool } from './pool-state.ts';
import {
  missingVectors,
  recordVectors,
  refuseDimension,
  textHashOf,
  type TextVector,
} from './record-vectors.ts';

/** A vector that somebody brings, and whose it is: that of a message, of a text, or of the SHA-256 of a text's UTF-8. */
export type BroughtVector = { readonly vector: Float32Array } & (
  | { readonly message: string }
  | { readonly vectorId: number }
  | { readonly text: string }
  | { readonly textHash: string }
);

/** What was recorded. */
export type EmbeddedTexts = {
  readonly position: Position;
  readonly embedder: string;
  readonly dimension: number | null;
  /** Texts that have a vector now and had none. */
  readonly recorded: number;
  /** Texts that had one: the first counts. */
  readonly known: number;
  /** Messages of the pool that have none. */
  readonly missing: number;
};

type Embedding = {
  /** What the ids of the commands begin with. */
  readonly id: string;
  readonly actor: string;
  readonly notes?: string | undefined;
};

/**
 * Asks the pool's embedder for the vectors of all messages that have none, and records them.
 *
 * @throws E_NOT_A_POOL, E_EMBEDDER_INVALID for a pool whose embedder is no endpoint, what the endpoint throws (then nothing is
 * recorded), and what `submit` throws
 */
export const embedMissing = async (
  home: Home,
  branchRef: BranchRef,
  { id, actor, notes, ...options }: Embedding & EmbeddingOptions,
): Promise<EmbeddedTexts> => {
  // Nobody pays for vectors whose record is refused in the end.
  checkActor(actor);
  checkNotes(notes ?? '');
  const { settings, messages } = await readPool(home, branchRef);
  const { embedder } = settings;
  if (embedderKind(embedder) !== 'endpoint')
    throw fail(
      'E_EMBEDDER_INVALID',
      `the embedder of the pool is ${embedder}, which is no endpoint that could be asked for vectors`,
    );
  const texts = new Set(messages.map(({ text }) => text));
  const vectors = await missingVectors(home, branchRef.history, embedder, [...texts], options);
  await recordVectors(home, branchRef, { id, by: { actor }, notes, embedder, vectors });
  return embeddedTexts(home, branchRef, embedder, {
    recorded: vectors.length,
    known: texts.size - vectors.length,
  });
};

/**
 * Records vectors that somebody brings for the texts of a pool. A text that has a vector by this embedder keeps it.
 *
 * @throws E_NOT_A_POOL, E_EMBEDDER_INVALID for the built-in embedder, E_NODE_NOT_FOUND for a message that the pool has not, E_VECTORS
 * for a text with two vectors and for another dimension than the recorded one; then nothing is recorded
 */
export const bringVectors = async (
  home: Home,
  branchRef: BranchRef,
  {
    id,
    actor,
    notes,
    embedder: named,
    vectors: brought,
  }: Embedding & {
    /** Default: the embedder of the pool. */
    readonly embedder?: string | undefined;
    readonly vectors: readonly BroughtVector[];
  },
): Promise<EmbeddedTexts> => {
  const { settings, messages } = await readPool(home, branchRef);
  const embedder = named ?? settings.embedder;
  if (embedderKind(embedder) === 'built-in')
    throw fail(
      'E_EMBEDDER_INVALID',
      `Stemma computes the vectors of ${embedder} itself: name another embedder for these, such as outside:mine`,
    );
  const byId = new Map(messages.map((message) => [message.id, message.text]));
  const byNumber = new Map(
    messages.flatMap(({ vectorId, text }) => (vectorId === null ? [] : [[vectorId, text]])),
  );
  const hashOf = (one: BroughtVector, row: number): string => {
    if ('textHash' in one) return one.textHash;
    if ('text' in one) return textHashOf(one.text);
    const text = 'message' in one ? byId.get(one.message) : byNumber.get(one.vectorId);
    if (text === undefined)
      throw fail(
        'E_NODE_NOT_FOUND',
        `vector ${row + 1} is that of message ${'message' in one ? one.message : one.vectorId}, which the pool has not`,
        { row: row + 1 },
      );
    return textHashOf(text);
  };
  const each = new Map<string, TextVector>();
  for (const [row, one] of brought.entries()) {
    const textHash = hashOf(one, row);
    const before = each.get(textHash);
    if (before !== undefined && !isSame(before.vector, one.vector))
      throw fail('E_VECTORS', `vector ${row + 1} is that of a text that has another one before it`, {
        row: row + 1,
      });
    each.set(textHash, { textHash, vector: one.vector });
  }
  const hashes = [...each.keys()];
  const { dimension, vectors: stored } = await home.queries.pools.vectorsOf(
    branchRef.history,
    embedder,
    hashes,
  );
  refuseDimension(embedder, dimension, [...each.values()]);
  const known = new Set(hashes.filter((_, i) => stored[i] !== null));
  const vectors = [...each.values()].filter(({ textHash }) => !known.has(textHash));
  await recordVectors(home, branchRef, { id, by: { actor }, notes, embedder, vectors });
  return embeddedTexts(home, branchRef, embedder, { recorded: vectors.length, known: known.size });
};

const isSame = (a: Float32Array, b: Float32Array): boolean =>
  a.length === b.length && a.every((value, i) => Object.is(value, b[i]));

const embeddedTexts = async (
  home: Home,
  branchRef: BranchRef,
  embedder: string,
  counts: Pick<EmbeddedTexts, 'recorded' | 'known'>,
): Promise<EmbeddedTexts> => {
  const position = await tipOf(home, branchRef);
  const { messages } = await readPool(home, branchRef);
  const hashes = messages.map(({ text }) => textHashOf(text));
  const { dimension, vectors } = await home.queries.pools.vectorsOf(branchRef.history, embedder, hashes);
  return { position, embedder, dimension, ...counts, missing: vectors.filter((one) => one === null).length };
};
