import { fail } from '@stemma/errors';
import { createHash } from 'node:crypto';

/** A file that can be read from its beginning more than once: it is looked through before anything of it is recorded. */
export type ImportSource = {
  /** Names it in messages. */
  readonly name: string;
  /** Bytes, if that is known beforehand. */
  readonly size: number | null;
  /** Its bytes in pieces of any size, each time from the first. */
  readonly open: () => AsyncIterable<Uint8Array>;
};

/** What one reading of a source has seen so far. */
export type Reading = {
  bytes: number;
  /** SHA-256 (hex) of all bytes, once it is read to its end; null before. */
  sha256: string | null;
};

/**
 * The text of a source in pieces, without a byte order mark; `reading` is kept up to date.
 *
 * @throws E_INPUT_ENCODING when it is not UTF-8.
 */
export async function* readText(
  source: ImportSource,
  reading: Reading,
  onProgress: (bytes: number) => void,
): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const hash = createHash('sha256');
  reading.bytes = 0;
  for await (const chunk of source.open()) {
    hash.update(chunk);
    const text = decode(decoder, chunk, source.name, reading.bytes);
    reading.bytes += chunk.length;
    onProgress(reading.bytes);
    if (text !== '') yield text;
  }
  const rest = decode(decoder, null, source.name, reading.bytes);
  reading.sha256 = hash.digest('hex');
  if (rest !== '') yield rest;
}

const decode = (
  decoder: InstanceType<typeof TextDecoder>,
  chunk: Uint8Array | null,
  name: string,
  at: number,
): string => {
  try {
    return chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    const where = chunk === null ? 'at its end' : `between byte ${at} and byte ${at + chunk.length}`;
    throw fail(
      'E_INPUT_ENCODING',
      `${name} is not UTF-8: there are bytes ${where} that stand for no character`,
      { at },
    );
  }
};
