/** Counts the values of a JSON text while its bytes arrive. */
export type ValueCounter = {
  /** The number of values so far: brackets that open and commas, outside of texts. */
  readonly add: (bytes: Uint8Array) => number;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_LIST = 0x5b;
const OPENING_OBJECT = 0x7b;

/**
 * A count of what a parser would make of a text, before it makes anything. Whether the text is JSON is not looked at:
 * of a text that is none, nothing is made either.
 */
export const openValueCounter = (): ValueCounter => {
  let count = 1;
  let inText = false;
  /** The last byte was a backslash that begins an escape: what follows it is no end of the text. */
  let escaped = false;

  /** Where the text that is open ends, or the length. */
  const skipText = (bytes: Uint8Array, from: number): number => {
    let at = from;
    if (escaped) {
      escaped = false;
      at++;
    }
    for (;;) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote === -1 ? bytes.length : quote;
      let slashes = 0;
      while (end - 1 - slashes >= at && bytes[end - 1 - slashes] === BACKSLASH) slashes++;
      const odd = slashes % 2 === 1;
      if (quote === -1) {
        escaped = odd;
        return bytes.length;
      }
      if (!odd) {
        inText = false;
        return quote;
      }
      at = quote + 1;
    }
  };

  return {
    add: (bytes) => {
      for (let i = inText ? skipText(bytes, 0) + 1 : 0; i < bytes.length; i++) {
        const byte = bytes[i];
        if (byte === QUOTE) {
          inText = true;
          i = skipText(bytes, i + 1);
        } else if (byte === COMMA || byte === OPENING_LIST || byte === OPENING_OBJECT) count++;
      }
      return count;
    },
  };
};
