import { hash } from 'node:crypto';

/** SHA-256 of bytes or of a text's UTF-8 bytes, in lower-case hex. */
export const sha256Hex = (data: Uint8Array | string): string => hash('sha256', data, 'hex');

/** SHA-256 of bytes or of a text's UTF-8 bytes: 32 bytes. */
export const sha256 = (data: Uint8Array | string): Uint8Array => {
  const digest = hash('sha256', data, 'buffer');
  return new Uint8Array(digest.buffer, digest.byteOffset, digest.byteLength);
};

/** SHAKE128 of bytes, expanded to `length` bytes. */
export const shake128 = (data: Uint8Array, length: number): Uint8Array =>
  hash('shake128', data, { outputEncoding: 'buffer', outputLength: length });

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
