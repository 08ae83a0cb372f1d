import { Readable, type Duplex } from 'node:stream';

/**
 * The bytes of a source behind a decoder, in pieces of bounded size. What goes wrong in front of the decoder is thrown as it is.
 *
 * @param fault what is thrown for a fault of the decoder itself
 */
export async function* decodedPieces(
  bytes: AsyncIterable<Uint8Array>,
  decoder: Duplex,
  fault: (error: NodeJS.ErrnoException) => unknown,
): AsyncIterable<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: false });
  let cause: Error | undefined;
  source.on('error', (error) => decoder.destroy((cause = error)));
  try {
    for await (const piece of source.pipe(decoder)) yield piece as Uint8Array;
  } catch (error) {
    throw cause ?? fault(error as NodeJS.ErrnoException);
  } finally {
    source.destroy();
    decoder.destroy();
  }
}
