import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';

/** The most bytes that a body becomes when its content coding is undone: a larger one says nothing. */
const MOST = 96 * 1024 * 1024;

const CODINGS: Readonly<Record<string, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  gzip: (bytes) => promisify(gunzip)(bytes, { maxOutputLength: MOST }),
  'x-gzip': (bytes) => promisify(gunzip)(bytes, { maxOutputLength: MOST }),
  br: (bytes) => promisify(brotliDecompress)(bytes, { maxOutputLength: MOST }),
  deflate: (bytes) => promisify(inflate)(bytes, { maxOutputLength: MOST }),
  zstd: (bytes) => promisify(zstdDecompress)(bytes, { maxOutputLength: MOST }),
};

/** A body without its content coding; as it is, if that is unknown or broken: its reader then says that it is no JSON. */
export const decoded = async (bytes: Uint8Array, coding: string | null): Promise<Uint8Array> => {
  const decode = CODINGS[coding?.trim().toLowerCase() ?? ''];
  if (decode === undefined) return bytes;
  try {
    return await decode(bytes);
  } catch {
    return bytes;
  }
};
