/**
 * The characters of a name of a history, branch or position, for a pattern with the flag `u`: letters of any script with their
 * marks, digits, `_`, `.` and `-`, and nothing that one does not see (context-tree §5.1).
 */
export const NAME_CHARACTER = '(?:(?!\\p{Default_Ignorable_Code_Point})[\\p{L}\\p{M}\\p{Nd}_.-])';

const NAME = new RegExp(`^(?!\\p{M})${NAME_CHARACTER}+$`, 'u');

/** So many bytes of UTF-8 a name has at most. */
const MOST_NAME_BYTES = 128;

/** True for a text that may be a name: it has characters of names only, composed (NFC), and at most 128 bytes. */
export const isName = (text: string): boolean =>
  NAME.test(text) && text.normalize('NFC') === text && utf8Length(text) <= MOST_NAME_BYTES;

/** The bytes of a text in UTF-8. */
const utf8Length = (text: string): number => {
  let bytes = 0;
  for (const character of text) bytes += bytesOfCharacter(character);
  return bytes;
};

/** Half of a surrogate pair becomes U+FFFD, which takes three. */
const bytesOfCharacter = (character: string): number => {
  const code = character.codePointAt(0) as number;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
};

const OTHERS = new RegExp(`(?:(?!${NAME_CHARACTER}).)+`, 'gsu');

/**
 * A text as a name: what is between characters of names is a hyphen, what does not fit is cut off. Undefined: no letter or digit is
 * left.
 */
export const nameOfText = (text: string, most: number): string | undefined => {
  const hyphened = text
    .normalize('NFC')
    .replace(OTHERS, '-')
    .replace(/^(?:[-.]|\p{M})+/u, '');
  let name = '';
  let bytes = 0;
  for (const character of hyphened) {
    bytes += bytesOfCharacter(character);
    if (bytes > most) break;
    name += character;
  }
  name = name.replace(/[-.]+$/, '');
  return /[\p{L}\p{Nd}]/u.test(name) && isName(name) ? name : undefined;
};

/** What is said first names a conversation that nobody named: so many words, and bytes. */
const MOST_WORDS = 6;
const MOST_WORD_BYTES = 48;

/** The first words of a text as a name, `Where-is-my-parcel`; undefined if it has none. */
export const nameOfWords = (text: string): string | undefined => {
  const words = text
    .slice(0, 1_000)
    .replace(/['’]/g, '')
    .split(/[\s\p{P}\p{S}]+/u)
    .filter((word) => /[\p{L}\p{Nd}]/u.test(word));
  return nameOfText(words.slice(0, MOST_WORDS).join('-'), MOST_WORD_BYTES);
};
