import { nearestOf } from '@stemma/analysis';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { embedWith, type EmbeddingOptions } from './embedder.ts';
import type { PoolView, SampledMessage } from './pool-messages.ts';

/** Which messages of a pool are wanted. */
export type MessageFilter = {
  /** The first and the last round in which they were added. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** True: only those that a round may still show. */
  readonly active?: boolean | undefined;
};

/** A message, and how near it is to the text that was looked for. */
export type NearMessage = SampledMessage & { readonly similarity: number };

/** Those messages that a filter lets through. */
export const filterMessages = (
  messages: readonly SampledMessage[],
  { from, to, active = false }: MessageFilter,
): readonly SampledMessage[] =>
  messages.filter(
    ({ round, isActive }) =>
      (from === undefined || (round !== null && round >= from)) &&
      (to === undefined || (round !== null && round <= to)) &&
      (!active || isActive),
  );

/** Those that have all the words, upper and lower case alike. @throws E_USAGE if there is no word */
export const messagesWithWords = (
  messages: readonly SampledMessage[],
  words: string,
): readonly SampledMessage[] => {
  // An empty variable of a script is no question: every message has no words.
  const wanted = folded(words)
    .split(/\s+/)
    .filter((word) => word !== '');
  if (wanted.length === 0) throw fail('E_USAGE', 'the words are empty: say what the messages are to have');
  return messages.filter(({ text }) => {
    const said = folded(text);
    return wanted.every((word) => said.includes(word));
  });
};

/**
 * The vector of a text that is looked for: the stored one, if the history has one by this embedder; else the embedder is asked for it, and
 * nothing is recorded.
 *
 * @throws as {@link embedWith}
 */
export const vectorOfText = async (
  home: Pick<Home, 'queries'>,
  history: string,
  embedder: string,
  text: string,
  options: EmbeddingOptions,
): Promise<Float32Array> => {
  const {
    dimension,
    vectors: [stored],
  } = await home.queries.pools.vectors(history, embedder, [text]);
  if (stored) return stored;
  const [made] = await embedWith(embedder, [text], dimension, options);
  return made as Float32Array;
};

/**
 * The messages nearest to a text, the nearest first, by the cosine of their stored vectors.
 *
 * @throws E_USAGE for an empty text, and as {@link vectorOfText}
 */
export const messagesNear = async (
  home: Pick<Home, 'queries'>,
  { position }: Pick<PoolView, 'position'>,
  messages: readonly SampledMessage[],
  { text, most, ...options }: { readonly text: string; readonly most: number } & EmbeddingOptions,
): Promise<readonly NearMessage[]> => {
  if (text.trim() === '') throw fail('E_USAGE', 'the text is empty: say what the messages are to be near to');
  const { embedder, messages: stored } = await home.queries.pools.embedded(position);
  const vectors = new Map(stored.map(({ node, vector }) => [node, vector] as const));
  const embedded = messages.flatMap((message) => {
    const vector = vectors.get(message.id);
    return vector === undefined ? [] : [{ message, vector }];
  });
  const near = nearestOf(
    embedded.map(({ vector }) => vector),
    await vectorOfText(home, position.history, embedder, text, options),
    most,
  );
  return near.map(({ row, similarity }) => ({ ...(embedded[row]?.message as SampledMessage), similarity }));
};

const folded = (text: string): string => text.normalize('NFKC').toLowerCase();
