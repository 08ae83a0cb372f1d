import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';

/** The most bytes that a body becomes when its content coding is undone. */
const MOST = 256 * 1024 * 1024;

const [GZIP, ZSTD, BRACE] = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 0x7b];

/** Nobody applies more codings to a body, one after the other. */
const MOST_CODINGS = 4;

/** A recorded body without its content codings, which are not recorded: of those that clients use, the ones that fit. */
export const withoutCoding = (bytes: Uint8Array): Uint8Array => {
  let plain = bytes;
  for (let n = 0; n < MOST_CODINGS; n++) plain = withoutLastCoding(plain);
  return plain;
};

const withoutLastCoding = (bytes: Uint8Array): Uint8Array => {
  const starts = (magic: Uint8Array): boolean => Buffer.compare(bytes.subarray(0, magic.length), magic) === 0;
  const first = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().charCodeAt(0);
  if (first === BRACE || bytes.length === 0) return bytes;
  const options = { maxOutputLength: MOST };
  const decoders = starts(GZIP)
    ? [gunzipSync]
    : starts(ZSTD)
      ? [zstdDecompressSync]
      : [inflateSync, brotliDecompressSync, inflateRawSync];
  for (const decode of decoders)
    try {
      return decode(bytes, options);
    } catch {
      // It is not this one.
    }
  return bytes;
};
