import { fail } from '@stemma/errors';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The first bytes of a gzip file (RFC 1952). */
const MAGIC = [0x1f, 0x8b] as const;

/**
 * The bytes of a source, uncompressed if they are those of a gzip file, in pieces of bounded size.
 *
 * @throws E_INPUT_TRUNCATED for a file that ends too early, E_INPUT_NOT_JSON for one that is damaged
 */
export async function* inflate(source: AsyncIterable<Uint8Array>, name: string): AsyncIterable<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    const head: Uint8Array[] = [];
    let size = 0;
    while (size < MAGIC.length) {
      const next = await pieces.next();
      if (next.done === true) break;
      head.push(next.value);
      size += next.value.length;
    }
    const [first, second] = Buffer.concat(head.map((piece) => piece.subarray(0, MAGIC.length)));
    const all = withFirst(head, pieces);
    if (first !== MAGIC[0] || second !== MAGIC[1]) yield* all;
    else yield* uncompressed(all, name);
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

async function* uncompressed(bytes: AsyncIterable<Uint8Array>, name: string): AsyncIterable<Uint8Array> {
  const compressed = Readable.from(bytes, { objectMode: false });
  const gunzip = createGunzip();
  // What goes wrong in front of it is not its own fault.
  let cause: Error | undefined;
  compressed.on('error', (error) => gunzip.destroy((cause = error)));
  try {
    for await (const piece of compressed.pipe(gunzip)) yield piece as Uint8Array;
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
