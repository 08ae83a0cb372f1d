/** Where a reader of bytes is. */
export type ByteCursor = { at: number };

/**
 * The whole number at the cursor, in seven bits a byte, the lowest first (unsigned LEB128), exact to 53 bits; the cursor
 * moves past it. Undefined if the bytes end in it, or it has more than `most` bytes.
 */
export const readVarint = (bytes: Uint8Array, cursor: ByteCursor, most = 10): number | undefined => {
  let value = 0;
  for (let scale = 1, i = 0; i < most; i++, scale *= 128) {
    const byte = bytes[cursor.at];
    if (byte === undefined) return undefined;
    cursor.at++;
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
  return undefined;
};
