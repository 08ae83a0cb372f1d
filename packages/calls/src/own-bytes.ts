import type { RecordedBody } from '@stemma/events';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Fewer bytes are read faster than they are unpacked. */
const LEAST_PACKED = 512;

/** Beyond it, compression gets slower, and hardly better. */
const LEVEL = 6;

/** The own bytes of a body as its event has them. */
export type EncodedOwn = {
  readonly own: string | null;
  readonly encoding: RecordedBody['encoding'];
};

/** Bytes as text, compressed if that saves something. */
export const encodeOwn = (bytes: Uint8Array, dictionary: Uint8Array): EncodedOwn => {
  if (bytes.length === 0) return { own: null, encoding: 'text' };
  const text = textOf(bytes);
  const asText = text !== undefined && { own: text, encoding: 'text' as const };
  if (asText && bytes.length < LEAST_PACKED) return asText;
  const packed = zstdCompressSync(bytes, {
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
    ...(dictionary.length > 0 && { dictionary }),
  }).toString('base64');
  if (asText && bytes.length <= packed.length) return asText;
  const plain = Math.ceil(bytes.length / 3) * 4;
  return packed.length < plain
    ? { own: packed, encoding: 'zstd' }
    : { own: Buffer.from(bytes).toString('base64'), encoding: 'base64' };
};

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
};

/**
 * The bytes again.
 *
 * @param size so many they must be: a Zstandard frame that would become more is not unpacked
 * @throws whatever the decoder throws if they are damaged
 */
export const decodeOwn = (
  { own, encoding }: { readonly own: string; readonly encoding: RecordedBody['encoding'] },
  size: number,
  dictionary: Uint8Array,
): Uint8Array => {
  switch (encoding) {
    case 'text':
      return Buffer.from(own);
    case 'base64':
      return Buffer.from(own, 'base64');
    case 'zstd':
      return zstdDecompressSync(Buffer.from(own, 'base64'), {
        ...(dictionary.length === 0 ? {} : { dictionary }),
        maxOutputLength: Math.max(1, size),
      });
  }
};
