import { fail } from '@stemma/errors';
import { createHash } from 'node:crypto';

/** A file that can be read more than once from its beginning: it is checked before anything is recorded. */
export type ImportSource = {
  /** Its name for messages. */
  readonly name: string;
  /** Its bytes, if known beforehand. */
  readonly size: number | null;
  /** Its bytes in pieces of any size, each time from the beginning. */
  readonly open: () => AsyncIterable<Uint8Array>;
};

/** What the current reading of a source has seen so far. */
export type Reading = {
  bytes: number;
  /** SHA-256 (hex) of all bytes, once read to the end; null before. */
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
