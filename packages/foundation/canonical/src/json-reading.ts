import { fail } from '@stemma/errors';

/** How a text is read: what becomes of its numbers, which keys and texts it may have. */
export type JsonReading = {
  /** Names the text in messages ("line 3", "the file"). */
  readonly what: string;
  /** The value of a number as it is written. */
  readonly number: (source: string) => unknown;
  /** Told of a key that stands in its object already, at a character; unless it throws, the last value counts. */
  readonly onRepeatedKey: (key: string, at: number) => void;
  /** True to take any key and text, also those that no tree may hold. */
  readonly anyText: boolean;
  /**
   * Given each item of a text that is a list as soon as it has ended. True: the caller has it now, so that it stands in no list, and the
   * values of the text may take as much again.
   */
  readonly takesItem?: (item: unknown) => boolean;
  /** Told of objects with keys that JavaScript may put in another order, such as "10": the keys as the text has them. */
  readonly keyOrder?: (object: object, keys: readonly string[]) => void;
};

/** What `onRepeatedKey` throws where a key may stand once in an object. */
export const repeatedKey = (what: string, key: string, at: number): Error =>
  fail(
    'E_INPUT_REPEATED_KEY',
    `${what} has an object with the key ${JSON.stringify(key)} twice, at character ${at}`,
    { at, key },
  );

/** True for the text of a JSON number. A loop: an expression may need more stack than there is. */
export const isNumber = (text: string): boolean => {
  let at = text.charCodeAt(0) === 0x2d ? 1 : 0;
  const first = at;
  at = behindDigits(text, at);
  if (at === first || (at > first + 1 && text.charCodeAt(first) === 0x30)) return false;
  if (text.charCodeAt(at) === 0x2e) {
    const point = at + 1;
    at = behindDigits(text, point);
    if (at === point) return false;
  }
  const exponent = text.charCodeAt(at);
  if (exponent === 0x65 || exponent === 0x45) {
    const sign = text.charCodeAt(at + 1);
    const digits = at + (sign === 0x2b || sign === 0x2d ? 2 : 1);
    at = behindDigits(text, digits);
    if (at === digits) return false;
  }
  return at === text.length;
};

/** The index behind the digits that begin at `from`. */
const behindDigits = (text: string, from: number): number => {
  let at = from;
  for (let unit = text.charCodeAt(at); unit >= 0x30 && unit <= 0x39; unit = text.charCodeAt(at)) at++;
  return at;
};

export const notJson = (what: string, at: number): Error =>
  fail('E_INPUT_NOT_JSON', `${what} is not JSON at character ${at}`, { at });

export const truncated = (what: string, at: number): Error =>
  fail('E_INPUT_TRUNCATED', `${what} ends in the middle of a value`, { at });
