import { createHash, hash } from 'node:crypto';

/** SHA-256 of bytes or of a text's UTF-8 bytes, in lower-case hex. */
export const sha256Hex = (data: Uint8Array | string): string => hash('sha256', data, 'hex');

/** SHA-256 of bytes or of a text's UTF-8 bytes: 32 bytes. */
export const sha256 = (data: Uint8Array | string): Uint8Array => {
  // A text and a small array that V8 keeps among its objects take half the time of a buffer with memory of its own.
  return latin1Bytes(hash('sha256', data, 'binary'));
};

/** The bytes of a text of one character for each byte, for short ones. */
export const latin1Bytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

/** Node.js 24 expands in one call, which is three times as fast; Node.js 22 has no length in it. */
const EXPANDS_AT_ONCE = ((): boolean => {
  try {
    return hash('shake128', '', { outputEncoding: 'binary', outputLength: 1 }).length === 1;
  } catch {
    return false;
  }
})();

/** SHAKE128 of bytes, expanded to `length` bytes. */
export const shake128 = (data: Uint8Array, length: number): Uint8Array =>
  EXPANDS_AT_ONCE
    ? hash('shake128', data, { outputEncoding: 'buffer', outputLength: length })
    : createHash('shake128', { outputLength: length }).update(data).digest();

/** The same as a text of one character for each byte: faster than allocating a buffer for each. */
export const shake128Text = (data: Uint8Array, length: number): string =>
  EXPANDS_AT_ONCE
    ? hash('shake128', data, { outputEncoding: 'binary', outputLength: length })
    : createHash('shake128', { outputLength: length }).update(data).digest('binary');

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** The first `length` base32 letters (RFC 4648, lower case) of a SHA-256, for ids that are derived from data. */
export const base32Digest = (data: Uint8Array | string, length: number): string => {
  const bytes = sha256(data);
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5 && text.length < length) {
      bits -= 5;
      text += BASE32[(held >> bits) & 31] ?? '';
    }
    held &= (1 << bits) - 1;
  }
  return text;
};

export const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

export const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
