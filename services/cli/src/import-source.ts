import { fail } from '@stemma/errors';
import type { ImportSource } from '@stemma/importers';
import { createCipheriv, createDecipheriv, randomBytes, type Cipheriv } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { archiveLines, isArchive, memberBytes, memberOf } from './archive-source.ts';
import { databaseLines, isDatabase } from './checkpoint-database.ts';
import { isServerAddress, serverLines, shownPath } from './checkpoint-server.ts';
import { inflate } from './inflate.ts';
import { openInput, type InputSurroundings } from './input.ts';

/** So many bytes of a pipe are taken; a file may have any size. */
const MAX_PIPED = 512 * 1024 * 1024;

/** Of the free space of the disk that copies go to, one part in so many. */
const PART_OF_FREE = 2;

/** How much a pipe may give, in bytes, and how much space there is in the folder of the copy. */
export type PipeLimits = { readonly most: number; readonly free: (folder: string) => number };

/** A copy is readable to this process only: what is taken out before it is recorded must not stay in a file either. */
const CIPHER = 'aes-256-ctr';

const freeSpace = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

/**
 * A file that can be read twice, uncompressed if it is a gzip or Zstandard file; of an archive of Inspect (`.eval`) the logs in it, and of a
 * database of LangGraph (a file, or the address of a server) its checkpoints, a line each;
 * `runs.zip/a.json` is a file in another archive. What a pipe gives is copied to a temporary file while it is read for the first time, so
 * that a fault in it ends the reading, however long it goes on.
 *
 * @throws E_IO when it cannot be read; when it is read, E_INPUT_TOO_LARGE for a pipe that gives more than 512 MiB or half
 *   of the free space.
 */
export const openImportSource = (
  file: string,
  around: InputSurroundings,
  limits?: PipeLimits,
): ImportSource & Disposable => {
  if (isServerAddress(file))
    return {
      name: shownPath(file),
      size: null,
      open: () => serverLines(file),
      [Symbol.dispose]: () => undefined,
    };
  const member = file === '-' ? undefined : memberOf(file);
  if (member !== undefined)
    return {
      name: file,
      size: null,
      open: () => inflate(memberBytes(member), file),
      [Symbol.dispose]: () => undefined,
    };
  const raw = openRawSource(file, around, limits);
  const lines = raw.size === null ? null : linesOf(file, raw.name);
  return {
    name: raw.name,
    size: lines === null ? raw.size : null,
    open: lines ?? (() => inflate(raw.open(), raw.name)),
    [Symbol.dispose]: () => raw[Symbol.dispose](),
  };
};

/** The lines of a file that is no text; null: it is one, or compressed. */
const linesOf = (file: string, name: string): ImportSource['open'] | null => {
  if (isArchive(file)) return () => archiveLines(file, name);
  return isDatabase(file) ? () => databaseLines(file) : null;
};

const openRawSource = (
  file: string,
  around: InputSurroundings,
  { most, free }: PipeLimits = { most: MAX_PIPED, free: freeSpace },
): ImportSource & Disposable => {
  const input = openInput(file, around);
  const name = file === '-' ? 'stdin' : file;
  if (input.kind === 'file')
    return { name, size: input.size, open: input.read, [Symbol.dispose]: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), 'stemma-import-'));
  const copy = join(folder, 'copy');
  const [key, iv] = [randomBytes(32), randomBytes(16)];
  let copied = false;
  return {
    name,
    size: null,
    open: () => {
      if (copied)
        return pipeline(
          createReadStream(copy, { signal: around.signal }),
          createDecipheriv(CIPHER, key, iv),
          () => undefined,
        );
      copied = true;
      return copying(
        input.read(),
        createCipheriv(CIPHER, key, iv),
        copy,
        name,
        Math.min(most, free(folder) / PART_OF_FREE),
      );
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
};

/** The bytes of a pipe, written to a file before they are given. */
async function* copying(
  source: AsyncIterable<Uint8Array>,
  cipher: Cipheriv,
  path: string,
  name: string,
  max: number,
): AsyncIterable<Uint8Array> {
  const file: FileHandle = await open(path, 'wx', 0o600);
  try {
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > max)
        throw fail(
          'E_INPUT_TOO_LARGE',
          `${name} gives more than ${Math.floor(max)} bytes, and a pipe is copied to be read twice: write it to a file and import that`,
          { limit: Math.floor(max) },
        );
      await file.writeFile(cipher.update(chunk));
      yield chunk;
    }
  } finally {
    await file.close();
  }
}
