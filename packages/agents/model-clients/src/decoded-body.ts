import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

const CODINGS = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** A body without its content coding, of so many bytes at most; null if it cannot be undone. */
export const decodedBody = async (
  body: Uint8Array,
  coding: string | null,
  most: number,
): Promise<Uint8Array | null> => {
  const name = coding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return body;
  if (!Object.hasOwn(CODINGS, name)) return null;
  try {
    return await CODINGS[name as keyof typeof CODINGS](body, { maxOutputLength: most });
  } catch {
    return null;
  }
};
