/** The vocabulary that tokens are counted in, whatever model was called: good for comparing, not for a bill. */
export const ENCODING = 'o200k_base';

export type Tokenizer = {
  readonly encoding: typeof ENCODING;
  /** Tokens of a text. What looks like a special token is counted as the text it is. */
  readonly count: (text: string) => number;
};

let loaded: Promise<Tokenizer> | undefined;

/** The tokenizer; its vocabulary (2.4 MB, 200 ms) is read when it is first asked for. */
export const loadTokenizer = (): Promise<Tokenizer> => (loaded ??= load());

const load = async (): Promise<Tokenizer> => {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const options = { disallowedSpecial: new Set<string>() };
  return {
    encoding: ENCODING,
    count: (text) => {
      let tokens = 0;
      for (const piece of pieces(text)) tokens += countTokens(piece, options);
      return tokens;
    },
  };
};

/**
 * A run of letters, of white space or of other signs is merged at a cost that grows with its square: 100,000 letters
 * take 11 seconds. So longer runs are cut (no word of a language is so long), which can count a token too much a cut.
 */
const LONGEST_RUN = 512;

const pieces = function* (text: string): Iterable<string> {
  let start = 0;
  let run = 0;
  let last = '';
  for (let i = 0; i < text.length; i++) {
    const kind = kindOf(text.charCodeAt(i));
    run = kind === last ? run + 1 : 1;
    last = kind;
    if (run < LONGEST_RUN || isHigh(text.charCodeAt(i))) continue;
    yield text.slice(start, i + 1);
    start = i + 1;
    run = 0;
  }
  yield text.slice(start);
};

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** Digits are merged three at a time; everything beyond ASCII is taken for a letter, so that no run is overlooked. */
const kindOf = (unit: number): string => {
  if (unit > 0x7f) return 'letter';
  if ((unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a)) return 'letter';
  if (unit >= 0x30 && unit <= 0x39) return 'digit';
  return unit <= 0x20 ? 'space' : 'sign';
};
