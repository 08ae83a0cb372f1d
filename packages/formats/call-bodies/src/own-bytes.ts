import { compareBytes } from '@stemma/canonical';
import type { RecordedBody } from '@stemma/events';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { fromColumns, toColumns } from './event-columns.ts';
import { EVENT_SHAPES } from './event-shapes.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Fewer bytes are read faster than they are unpacked. */
const LEAST_PACKED = 512;

/** Beyond it, compression gets slower, and hardly better. */
const LEVEL = 6;

/** Larger streams are compressed as they are. */
const MOST_COLUMNS = 8 * 1024 * 1024;

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

/**
 * The bytes of an event stream, in columns and compressed; undefined if they are none, or that is of no use.
 *
 * @param companion what the stream says, which is then kept once
 */
export const encodeEvents = (bytes: Uint8Array, companion: Uint8Array): string | undefined => {
  if (bytes.length > MOST_COLUMNS || !isStream(bytes)) return undefined;
  const columns = toColumns(bytes);
  if (columns === undefined || compareBytes(fromColumns(columns, bytes.length), bytes) !== 0)
    return undefined;
  const packed = zstdCompressSync(columns, {
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
    dictionary: eventDictionary(companion),
  });
  return packed.toString('base64');
};

const isStream = (bytes: Uint8Array): boolean =>
  /^(data|event|id|retry)?:/.test(Buffer.from(bytes.subarray(0, 8)).toString('latin1'));

const eventDictionary = (companion: Uint8Array): Buffer => Buffer.concat([EVENT_SHAPES, companion]);

const NONE = new Uint8Array();

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
    case 'none':
      return NONE;
    case 'text':
      return Buffer.from(own);
    case 'base64':
      return Buffer.from(own, 'base64');
    case 'zstd':
      return zstdDecompressSync(Buffer.from(own, 'base64'), {
        ...(dictionary.length === 0 ? {} : { dictionary }),
        maxOutputLength: Math.max(1, size),
        // In one piece.
        chunkSize: size + 64,
      });
    case 'events': {
      const columns = zstdDecompressSync(Buffer.from(own, 'base64'), {
        dictionary: eventDictionary(dictionary),
        // Shapes and numbers may take a little more than what they say.
        maxOutputLength: 2 * size + 64,
      });
      return fromColumns(columns, size);
    }
  }
};
