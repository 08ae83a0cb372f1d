import { defined } from '@stemma/values';
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';

/** The most bytes that a body becomes when its content coding is undone: a larger one says nothing. */
const MOST = 96 * 1024 * 1024;
/** What every body may become, and how many times as large beyond that: texts that people write become 5 to 50 times as large. */
const [SMALL, TIMES] = [1024 * 1024, 256];

/** The most bytes that a body of so many becomes when its content coding is undone. */
export const decodedLimit = (size: number): number => Math.min(MOST, Math.max(SMALL, TIMES * size));

type Limits = { readonly maxOutputLength: number };
type Decode = (bytes: Uint8Array, options: Limits & { readonly finishFlush?: number }) => Promise<Uint8Array>;

const CODINGS: Readonly<Record<string, Decode>> = {
  identity: (bytes) => Promise.resolve(bytes),
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  // Some servers leave out what should be around it (RFC 9110, 8.4.1.2).
  deflate: (bytes, options) => promisify(isZlib(bytes) ? inflate : inflateRaw)(bytes, options),
  zstd: promisify(zstdDecompress),
};

/** True if bytes begin as RFC 1950 says. */
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;

/** Nobody applies more codings to a body, one after the other. */
const MOST_CODINGS = 4;

/** What makes each coding give what it has where the bytes end before it does. */
const FLUSHES: Readonly<Record<string, number>> = {
  gzip: constants.Z_SYNC_FLUSH,
  'x-gzip': constants.Z_SYNC_FLUSH,
  br: constants.BROTLI_OPERATION_FLUSH,
  deflate: constants.Z_SYNC_FLUSH,
  zstd: constants.ZSTD_e_flush,
};

/**
 * A body without its content codings, of which the last was applied last; as it is, if one is unknown or broken: its reader
 * then says that it is no JSON.
 *
 * @param cut true: it may end anywhere, as an answer does whose client has left; what came of it is returned
 */
export const decoded = async (bytes: Uint8Array, coding: string | null, cut = false): Promise<Uint8Array> =>
  (await withoutCodings(bytes, coding, cut)) ?? bytes;

/** As {@link decoded}; null if a coding is unknown or broken. */
export const withoutCodings = async (
  bytes: Uint8Array,
  coding: string | null,
  cut = false,
): Promise<Uint8Array | null> => {
  const names = (coding ?? '').split(',', MOST_CODINGS + 1).map((name) => name.trim().toLowerCase());
  const codings = names.filter((name) => name !== '');
  if (codings.length > MOST_CODINGS) return null;
  const maxOutputLength = decodedLimit(bytes.length);
  let plain = bytes;
  try {
    for (const name of codings.reverse()) {
      const decode = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined;
      if (decode === undefined) return null;
      const finishFlush = cut ? FLUSHES[name] : undefined;
      plain = await decode(plain, { maxOutputLength, ...defined({ finishFlush }) });
    }
    return plain;
  } catch {
    return null;
  }
};
