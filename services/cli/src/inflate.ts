import { fail } from '@stemma/errors';
import { Readable, type Duplex } from 'node:stream';
import { constants, createGunzip, createZstdDecompress } from 'node:zlib';

type Compression = { readonly magic: readonly number[]; readonly open: () => Duplex };

/** How compressed files begin: gzip (RFC 1952) and Zstandard (RFC 8878), whose window is at most 128 MiB. */
const COMPRESSIONS: readonly Compression[] = [
  { magic: [0x1f, 0x8b], open: () => createGunzip() },
  {
    magic: [0x28, 0xb5, 0x2f, 0xfd],
    open: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 27 } }),
  },
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
    else yield* uncompressed(all, compression, name);
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

async function* uncompressed(
  bytes: AsyncIterable<Uint8Array>,
  { open }: Compression,
  name: string,
): AsyncIterable<Uint8Array> {
  const compressed = Readable.from(bytes, { objectMode: false });
  const decoder = open();
  // What goes wrong in front of it is not its own fault.
  let cause: Error | undefined;
  compressed.on('error', (error) => decoder.destroy((cause = error)));
  try {
    for await (const piece of compressed.pipe(decoder)) yield piece as Uint8Array;
  } catch (error) {
    if (cause !== undefined) throw cause;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'Z_BUF_ERROR')
      throw fail('E_INPUT_TRUNCATED', `${name} is compressed and ends in the middle`);
    throw fail(
      'E_INPUT_NOT_JSON',
      `${name} is compressed and damaged, or more follows (${code ?? 'unknown'})`,
    );
  } finally {
    compressed.destroy();
  }
}
