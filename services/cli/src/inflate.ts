import { fail } from '@stemma/errors';
import { ZSTD_LIMITS } from '@stemma/importers';
import type { Duplex } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { decodedPieces } from './decoded-pieces.ts';

type Compression = { readonly magic: readonly number[]; readonly open: () => Duplex };

/** How compressed files begin: gzip (RFC 1952) and Zstandard (RFC 8878), whose window is at most 128 MiB. */
const COMPRESSIONS: readonly Compression[] = [
  { magic: [0x1f, 0x8b], open: () => createGunzip() },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], open: () => createZstdDecompress(ZSTD_LIMITS) },
];
const LONGEST_MAGIC = Math.max(...COMPRESSIONS.map(({ magic }) => magic.length));

/**
 * The bytes of a source, uncompressed if they are those of a gzip or Zstandard file, in pieces of bounded size.
 *
 * @throws E_INPUT_TRUNCATED for a file that ends too early, E_INPUT_NOT_JSON for one that is damaged
 */
export async function* inflate(source: AsyncIterable<Uint8Array>, name: string): AsyncIterable<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    const head: Uint8Array[] = [];
    let size = 0;
    while (size < LONGEST_MAGIC) {
      const next = await pieces.next();
      if (next.done === true) break;
      head.push(next.value);
      size += next.value.length;
    }
    const begins = Buffer.concat(head.map((piece) => piece.subarray(0, LONGEST_MAGIC)));
    const all = withFirst(head, pieces);
    const compression = COMPRESSIONS.find(({ magic }) => magic.every((byte, i) => begins[i] === byte));
    if (compression === undefined) yield* all;
    else yield* decodedPieces(all, compression.open(), faultIn(name));
  } finally {
    await pieces.return?.(undefined);
  }
}

async function* withFirst(
  head: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  yield* head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

const faultIn =
  (name: string) =>
  ({ code }: NodeJS.ErrnoException): unknown =>
    code === 'Z_BUF_ERROR'
      ? fail('E_INPUT_TRUNCATED', `${name} is compressed and ends in the middle`)
      : fail('E_INPUT_NOT_JSON', `${name} is compressed and damaged, or more follows (${code ?? 'unknown'})`);
