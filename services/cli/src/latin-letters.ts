/** Letters that stay what they are when their marks are taken away, and how they are usually written in Latin ones. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  [
    'ß ss æ ae œ oe ø o ł l đ d ð d þ th ı i ħ h ŋ ng ŧ t ĸ k ſ s ə e',
    'а a б b в v г g ґ g д d е e є ye ж zh з z и i і i ј j к k л l љ lj м m н n њ nj о o п p р r с s т t ћ c у u ф f х kh',
    'ц ts ч ch џ dz ш sh щ shch ъ - ы y ь - э e ю yu я ya ђ dj ѓ g ѕ dz ќ k ў u',
    'α a β b γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o',
  ].flatMap((line) => {
    const words = line.split(' ');
    return words.flatMap((letter, i): [string, string][] =>
      i % 2 === 0 ? [[letter, (words[i + 1] ?? '').replace('-', '')]] : [],
    );
  }),
);

/** The text in Latin letters without marks, as far as its letters have any: é is e, Привет is Privet. The others stay. */
export const inLatinLetters = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/\p{L}/gu, (letter) => {
      const small = letter.toLowerCase();
      const latin = LETTERS.get(small);
      if (latin === undefined) return letter;
      return letter === small ? latin : latin.slice(0, 1).toUpperCase() + latin.slice(1);
    });
