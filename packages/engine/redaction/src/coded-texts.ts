import type { Span, TextRule } from './text-rule.ts';
import { unescaped } from './unescaped.ts';

/** A form in which a text can hold another one, all of which goes when that holds a secret, as a file that was attached. */
type Coding = { readonly run: RegExp; readonly decode: (run: string) => string | undefined };

/** The text that bytes are; undefined for what is none, such as a picture, a word or a hash. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    // What is cut off in the middle of a character is a text all the same.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
};

const fromBase64 = (coded: string): string | undefined => textOf(Buffer.from(coded, 'base64'));

/** An odd digit belongs to something else, before or behind. */
const fromHex = (coded: string): string => {
  const digits = coded.replaceAll(/\\x|[^0-9A-Fa-f]/gu, '');
  const read = (from: number): string => textOf(Buffer.from(digits.slice(from), 'hex')) ?? '';
  return digits.length % 2 === 0 ? read(0) : `${read(0)}\n${read(1)}`;
};

/** A line break, also as JSON says it. */
const BREAK = String.raw`(?:\r?\n|(?:\\r)?\\n)[ \t]*`;

// Each begins where a run begins: a search from every character of a long one would take the square of its length.
const CODINGS: readonly Coding[] = [
  { run: /[A-Za-z0-9+/_-]{24,}={0,2}/gu, decode: fromBase64 },
  {
    // Broken into lines.
    run: new RegExp(`(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{16,}${BREAK})+[A-Za-z0-9+/_-]+={0,2}`, 'gu'),
    decode: (coded) => fromBase64(coded.replaceAll(/\\[rn]|\s/gu, '')),
  },
  { run: /(?<![0-9A-Fa-f])[0-9A-Fa-f]{32,}/gu, decode: fromHex },
  { run: new RegExp(`(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{16,}${BREAK})+[0-9A-Fa-f]+`, 'gu'), decode: fromHex },
  { run: /(?<![0-9A-Fa-f])[0-9A-Fa-f]{2}(?:[ :,-][0-9A-Fa-f]{2}){15,}/gu, decode: fromHex },
  { run: /(?:\\x[0-9A-Fa-f]{2}){16,}/gu, decode: fromHex },
];

/** Hex in base64, an address in an address in an address: nobody encodes more often. */
const MOST_LEVELS = 4;

/**
 * Finds what is encoded once, or in several forms one in another. The time grows with the length of the text: a level more multiplies
 * it by a small number in the worst case, and adds less than half where one coding holds another.
 *
 * @param find the secrets in a text that is not coded
 */
export const codedRules = (find: TextRule, levels = MOST_LEVELS): readonly TextRule[] => {
  if (levels === 0) return [];
  const within = codedRules(find, levels - 1);
  const findWithin: TextRule = (text) => [...find(text), ...within.flatMap((rule) => rule(text))];
  return [...CODINGS.map((coding) => inCoding(coding, findWithin)), inPercents(findWithin)];
};

const inCoding =
  ({ run, decode }: Coding, find: TextRule): TextRule =>
  (text) => {
    const spans: Span[] = [];
    for (const { 0: coded, index } of text.matchAll(run)) {
      const plain = decode(coded);
      const rule = plain === undefined ? undefined : firstRule(plain, find);
      if (rule !== undefined) spans.push({ start: index, end: index + coded.length, rule });
    }
    return spans;
  };

/** The rule of a secret in a text, or in what it says when all its escapes are undone. */
const firstRule = (plain: string, find: TextRule): string | undefined => {
  const bare = [...unescaped(plain)].at(-1);
  return (find(plain)[0] ?? (bare === undefined ? undefined : find(bare)[0]))?.rule;
};

/** `%73` for `s`. Others than those of ASCII are in no secret that has a form. */
const PERCENT = /%([2-7][0-9A-Fa-f])/gu;
const HAS_PERCENT = /%[2-7][0-9A-Fa-f]/u;

/** Secrets in a text whose percent-encoding is undone, at the place where they stand encoded. */
const inPercents =
  (find: TextRule): TextRule =>
  (text) => {
    if (!HAS_PERCENT.test(text)) return [];
    const { plain, at } = decoded(text);
    return find(plain).map(({ start, end, rule }) => ({ start: at(start), end: at(end), rule }));
  };

/** A text that is decoded, and where a character of it, or its end, stands in the text before. */
const decoded = (text: string): { readonly plain: string; readonly at: (index: number) => number } => {
  /** Where the characters behind each encoded one begin: here, and in the text before. */
  const behind: [here: number, before: number][] = [[0, 0]];
  let done = '';
  let from = 0;
  for (const { 0: coded, 1: code = '', index } of text.matchAll(PERCENT)) {
    done += text.slice(from, index) + String.fromCharCode(Number.parseInt(code, 16));
    from = index + coded.length;
    behind.push([done.length, from]);
  }
  const at = (index: number): number => {
    let [low, high] = [0, behind.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((behind[middle] as [number, number])[0] <= index) low = middle;
      else high = middle - 1;
    }
    const [here, was] = behind[low] as [number, number];
    return was + index - here;
  };
  return { plain: done + text.slice(from), at };
};
