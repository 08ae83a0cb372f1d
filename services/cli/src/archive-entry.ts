import { fail } from '@stemma/errors';
import {
  DEFLATE,
  nameOfEntry,
  otherCompression,
  startOfEntry,
  STORED,
  ZSTD,
  ZSTD_LIMITS,
  type RandomAccess,
  type ZipEntry,
} from '@stemma/importers';
import type { Duplex } from 'node:stream';
import { crc32, createInflateRaw, createZstdDecompress } from 'node:zlib';
import { decodedPieces } from './decoded-pieces.ts';

/** So many bytes of an archive are read at once. */
const PIECE = 256 * 1024;

/**
 * The bytes of an entry of any size, without its compression, in pieces of bounded size. That they are those which were put into the archive is
 * known when the last one was read.
 *
 * @throws E_INPUT_SHAPE for another compression, an encrypted entry or damaged bytes, E_INPUT_TRUNCATED
 */
export async function* streamZipEntry(file: RandomAccess, entry: ZipEntry): AsyncIterable<Uint8Array> {
  const where = nameOfEntry(file, entry);
  const start = await startOfEntry(file, entry);
  const decoder = decoderOf(entry, where);
  const compressed = compressedBytes(file, entry, start, where);
  let [size, checksum] = [0, 0];
  for await (const bytes of decoder === null
    ? compressed
    : decodedPieces(compressed, decoder, faultIn(where))) {
    size += bytes.length;
    if (size > entry.size) break;
    checksum = crc32(bytes, checksum);
    yield bytes;
  }
  if (size !== entry.size || checksum !== entry.checksum)
    throw fail(
      'E_INPUT_SHAPE',
      `${where} is damaged: its bytes are not those that were put into the archive`,
    );
}

const faultIn =
  (where: string) =>
  (error: NodeJS.ErrnoException): unknown =>
    /^Z(STD)?_/.test(error.code ?? '')
      ? fail('E_INPUT_SHAPE', `${where} is compressed and damaged (${error.code ?? ''})`)
      : error;

async function* compressedBytes(
  file: RandomAccess,
  entry: ZipEntry,
  start: number,
  where: string,
): AsyncIterable<Uint8Array> {
  for (let read = 0; read < entry.compressed;) {
    const bytes = await file.read(start + read, Math.min(PIECE, entry.compressed - read));
    if (bytes.length === 0) throw fail('E_INPUT_TRUNCATED', `${where} ends too early`);
    read += bytes.length;
    yield bytes;
  }
}

/** Null: it is not compressed. */
const decoderOf = ({ method, isEncrypted }: ZipEntry, where: string): Duplex | null => {
  if (isEncrypted) throw fail('E_INPUT_SHAPE', `${where} is encrypted, and cannot be read`);
  if (method === STORED) return null;
  if (method === DEFLATE) return createInflateRaw();
  if (method === ZSTD) return createZstdDecompress(ZSTD_LIMITS);
  throw otherCompression(where, method);
};
