import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';

/** The most bytes that a body becomes when its content coding is undone: a larger one says nothing. */
const MOST = 96 * 1024 * 1024;
/** What every body may become, and how many times as large beyond that: texts that people write become 5 to 50 times as large. */
const [SMALL, TIMES] = [1024 * 1024, 256];

/** The most bytes that a body of so many becomes when its content coding is undone. */
export const decodedLimit = (size: number): number => Math.min(MOST, Math.max(SMALL, TIMES * size));

type Decode = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>;

const CODINGS: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
  zstd: promisify(zstdDecompress),
};

/** A body without its content coding; as it is, if that is unknown or broken: its reader then says that it is no JSON. */
export const decoded = async (bytes: Uint8Array, coding: string | null): Promise<Uint8Array> => {
  const decode = CODINGS[coding?.trim().toLowerCase() ?? ''];
  if (decode === undefined) return bytes;
  try {
    return await decode(bytes, { maxOutputLength: decodedLimit(bytes.length) });
  } catch {
    return bytes;
  }
};
