import { fail } from '@stemma/errors';
import { evalLines, isEvalArchive, listZipEntries, ZIP_MAGIC, type RandomAccess } from '@stemma/importers';
import { streamZipEntry } from './archive-entry.ts';
import { openFileHandle, openRegularFile } from '@stemma/machine';
import { closeSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A file in an archive: `runs.zip/day-1/a.json` is `day-1/a.json` in `runs.zip`. */
export type ArchiveMember = { readonly archive: string; readonly entry: string };

const isFile = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false; // a part of it is no folder
  }
};

/** True if it is a file that begins as a zip archive does. */
export const isArchive = (path: string): boolean => {
  if (!isFile(path)) return false;
  const head = Buffer.alloc(ZIP_MAGIC.length);
  const fd = openRegularFile(path);
  try {
    return (
      readSync(fd, head, 0, head.length, 0) === head.length && ZIP_MAGIC.every((byte, i) => head[i] === byte)
    );
  } finally {
    closeSync(fd);
  }
};

/** The archive that a path goes into, and what it names there; undefined: it goes into none. */
export const memberOf = (path: string): ArchiveMember | undefined => {
  for (let above = dirname(path); above !== dirname(above); above = dirname(above))
    if (isFile(above)) return { archive: above, entry: path.slice(above.length + 1) };
  return undefined;
};

/**
 * The paths of the files in an archive, in its order; null: it is one log of Inspect (`.eval`).
 *
 * @throws E_INPUT_SHAPE, E_INPUT_TOO_LARGE, E_INPUT_TRUNCATED for what is no whole archive
 */
export const listMembers = async (path: string): Promise<readonly string[] | null> => {
  for await (const file of opened(path, path)) {
    const entries = await listZipEntries(file);
    if (isEvalArchive(entries)) return null;
    return entries.filter(({ name }) => !name.endsWith('/')).map(({ name }) => `${path}/${name}`);
  }
  return [];
};

/** The bytes of a file in an archive, each time from the beginning. @throws E_IO if it is not there, E_INPUT_… as for archives */
export async function* memberBytes({ archive, entry }: ArchiveMember): AsyncIterable<Uint8Array> {
  for await (const file of opened(archive, archive)) {
    const found = (await listZipEntries(file)).find(({ name }) => name === entry);
    if (found === undefined)
      throw fail('E_IO', `the archive ${archive} holds no ${entry}`, { file: archive });
    yield* streamZipEntry(file, found);
  }
}

/**
 * The lines of an archive that an importer reads (`.eval`), each time from the beginning.
 *
 * @throws E_INPUT_SHAPE for an archive that holds no log, E_INPUT_TOO_LARGE, E_INPUT_TRUNCATED
 */
export async function* archiveLines(path: string, name: string): AsyncIterable<Uint8Array> {
  for await (const file of opened(path, name)) yield* evalLines(file);
}

/** An archive while it is read. */
async function* opened(path: string, name: string): AsyncIterable<RandomAccess> {
  const file = await openFileHandle(path);
  try {
    const { size } = await file.stat();
    yield {
      name,
      size,
      read: async (offset, length) => {
        const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
        return bytes.subarray(0, bytesRead);
      },
    };
  } finally {
    await file.close();
  }
}
