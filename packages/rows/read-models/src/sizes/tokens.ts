import type { WideJson } from '@stemma/canonical';
import { fetching, missing, missingKind, type Fetcher } from '@stemma/suspend';

/** A tokenizer's name, and a function that counts the tokens of a text as it does. */
export type TokenCounter = { readonly name: string; count(text: string): number };

/** Longer runs are counted in pieces: merging a run without a break costs the square of its length. */
const LONGEST_RUN = 512;

/** The tokenizer cuts every text before a blank that follows a word, so counting pieces cut there counts the whole. */
const PIECE = 16_384;

/** The encoding of OpenAI's models since 2024. */
export const TOKENIZER_NAME = 'o200k_base';

let loading: Promise<TokenCounter> | undefined;
let loaded: TokenCounter | undefined;

const TABLES = missingKind<string>('the tables of a tokenizer', (name) => name);

/** Loads the tables that a fold counts with. */
export const loadingTokenizer: Fetcher = fetching(TABLES, async () => {
  loaded = await tokenCounter();
});

/** The counter, for a fold. @throws Missing until {@link loadingTokenizer} fetched its tables */
export const loadedCounter = (): TokenCounter => {
  if (loaded === undefined) throw missing(TABLES, [TOKENIZER_NAME]);
  return loaded;
};

/**
 * The counter of {@link TOKENIZER_NAME}, offline. The first call loads its tables
 * (2 MB). Special tokens such as `<|endoftext|>` count as plain text. A run of more than 512 characters without white
 * space is counted in pieces, so its count may be a few too high.
 */
export const tokenCounter = (): Promise<TokenCounter> => (loading ??= load());

const load = async (): Promise<TokenCounter> => {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const options = { disallowedSpecial: new Set<string>() };
  return {
    name: TOKENIZER_NAME,
    count: (text) => {
      let sum = 0;
      for (const piece of pieces(text)) sum += countTokens(piece, options);
      return sum;
    },
  };
};

/** A text in pieces, cut before blanks, or by length alone where a run has none. */
function* pieces(text: string): Generator<string> {
  if (text.length <= LONGEST_RUN) {
    yield text;
    return;
  }
  let start = 0;
  let run = 0;
  let wasWord = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isWord = code > 0x20;
    run = isWord === wasWord ? run + 1 : 1;
    const atBlank = code === 0x20 && wasWord && i - start >= PIECE;
    wasWord = isWord;
    // Never between the two halves of a character beyond the basic plane.
    if (!(atBlank || run > LONGEST_RUN) || (code >= 0xdc00 && code < 0xe000)) continue;
    yield text.slice(start, i);
    start = i;
    run = 1;
  }
  yield text.slice(start);
}

/** The text of a content that a tokenizer gets: a string itself, anything else as JSON. */
export const textOfContent = (content: WideJson | undefined): string => {
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  return JSON.stringify(content, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
};
