/** Numbers in [0, 1) that are the same at every run (mulberry32, T. Ettinger 2017). */
export type Random = () => number;

export const seeded = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

export const whole = (random: Random, below: number): number => Math.floor(random() * below);

const onsets = [
  'b',
  'br',
  'c',
  'ch',
  'd',
  'dr',
  'f',
  'g',
  'gl',
  'h',
  'j',
  'k',
  'l',
  'm',
  'n',
  'p',
  'pr',
  'qu',
];
const moreOnsets = ['r', 's', 'sh', 'sp', 'st', 't', 'th', 'tr', 'v', 'w', 'y', 'z'];
const nuclei = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'ie', 'oa', 'ou'];
const codas = ['', '', 'n', 'r', 's', 't', 'l', 'nd', 'st', 'ck', 'm', 'ng'];

const vocabulary: readonly string[] = (() => {
  const random = seeded(7);
  const first = [...onsets, ...moreOnsets];
  const pick = (from: readonly string[]): string => from[whole(random, from.length)]!;
  const syllable = (): string => pick(first) + pick(nuclei) + pick(codas);
  return Array.from({ length: 8_192 }, () => {
    const length = 1 + whole(random, 3);
    return Array.from({ length }, syllable).join('');
  });
})();

/**
 * Prose of exactly so many ASCII characters. Words are drawn evenly from 8,192 with numbers in between, so a general
 * compressor gets it to about 0.43 of its length: harder than real transcripts, which repeat themselves.
 */
export const prose = (random: Random, length: number): string => {
  let text = '';
  while (text.length < length) {
    const word =
      random() < 0.06 ? String(whole(random, 1_000_000)) : vocabulary[whole(random, vocabulary.length)]!;
    text += word + (random() < 0.1 ? '. ' : ' ');
  }
  return text.slice(0, length);
};
