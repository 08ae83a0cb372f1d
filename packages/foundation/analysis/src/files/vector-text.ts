import { fail } from '@stemma/errors';

/** A text that is much larger does not fit into one of JavaScript. */
const MOST_TEXT = 400 * 1024 * 1024;

/** The text of a file of vectors. @throws E_VECTORS unless it is UTF-8, E_INPUT_TOO_LARGE above 400 MiB */
export const vectorText = (bytes: Uint8Array): string => {
  if (bytes.length > MOST_TEXT)
    throw fail('E_INPUT_TOO_LARGE', 'a text of more than 400 MiB is too large: save the vectors as .npy');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fail('E_VECTORS', 'the file is neither .npy nor UTF-8 text');
  }
};

/** The value of a JSON text; undefined if it is none. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** The values of JSON Lines, each with the number of its line, from 1; lines without text are left out. @throws E_VECTORS */
export const jsonLinesIn = (text: string): { readonly value: unknown; readonly line: number }[] =>
  text.split('\n').flatMap((each, i) => {
    if (each.trim() === '') return [];
    const value = jsonIn(each);
    if (value === undefined) throw fail('E_VECTORS', `line ${i + 1} is not JSON`, { line: i + 1 });
    return [{ value, line: i + 1 }];
  });
