import { fail } from '@stemma/errors';
import { endOfText } from './json-reader.ts';
import { MAX_DEPTH } from './json-value.ts';

/** What a text shows before it is parsed. */
export type JsonScan = {
  /** The colons outside of texts: the keys, if it is JSON. */
  readonly keys: number;
  /**
   * True if a key is a single escape. `JSON.parse` of V8 13.6 (Node 24) reads such texts wrongly: behind an object with
   * the keys "a" and "\n", the second key of {"a":1,"\"":2} comes out as a backslash. It may go when V8 is right.
   */
  readonly escapedKey: boolean;
};

/**
 * Counts keys and open brackets outside of texts, so that no parser must go deeper than it can.
 *
 * @throws E_INPUT_TOO_DEEP
 */
export const scanJson = (text: string, what: string): JsonScan => {
  let depth = 0;
  let keys = 0;
  let escapedKey = false;
  /** Where the last text begins and ends, at its quotes. */
  let start = 0;
  let end = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x22) {
      start = i;
      i = end = endOfText(text, i + 1);
    } else if (unit === 0x3a) {
      keys++;
      escapedKey ||= isOneEscape(text, start, end);
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > MAX_DEPTH)
        throw fail('E_INPUT_TOO_DEEP', `${what} nests values more than ${MAX_DEPTH} deep`, { at: i });
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return { keys, escapedKey };
};

const isOneEscape = (text: string, start: number, end: number): boolean =>
  text.charCodeAt(start + 1) === 0x5c &&
  end - start === (text.charCodeAt(start + 2) === 0x75 ? '"\\u0000'.length : '"\\n'.length);
