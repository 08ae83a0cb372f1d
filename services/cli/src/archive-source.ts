import { fail } from '@stemma/errors';
import {
  evalLines,
  isEvalArchive,
  listZipEntries,
  ZIP_MAGIC,
  type RandomAccess,
  type ZipEntry,
} from '@stemma/importers';
import { openFileHandle } from '@stemma/machine';
import { dirname } from 'node:path';
import { streamZipEntry } from './archive-entry.ts';
import { beginsWith, statOf } from './probe-file.ts';

/** A file in an archive: `runs.zip/day-1/a.json` is `day-1/a.json` in `runs.zip`. */
export type ArchiveMember = { readonly archive: string; readonly entry: string };

/** True if it is a file that begins as a zip archive does. */
export const isArchive = (path: string): boolean =>
  statOf(path)?.isFile() === true && beginsWith(path, ZIP_MAGIC);

/** The archive that a path goes into, and what it names there; undefined: it goes into none. */
export const memberOf = (path: string): ArchiveMember | undefined => {
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    const found = statOf(above);
    if (found?.isFile() === true) return { archive: above, entry: path.slice(above.length + 1) };
    // What is above a folder is a folder.
    if (found !== undefined) return undefined;
  }
  return undefined;
};

/**
 * The paths of the files in an archive, in its order; null: it is one log of Inspect (`.eval`).
 *
 * @throws E_INPUT_SHAPE, E_INPUT_TOO_LARGE, E_INPUT_TRUNCATED for what is no whole archive
 */
export const listMembers = async (path: string): Promise<readonly string[] | null> => {
  for await (const file of opened(path, path)) {
    const entries = await entriesOf(file);
    if (isEvalArchive([...entries.values()])) return null;
    return [...entries.keys()].filter((name) => !name.endsWith('/')).map((name) => `${path}/${name}`);
  }
  return [];
};

/** The bytes of a file in an archive, each time from the beginning. @throws E_IO if it is not there, E_INPUT_… as for archives */
export async function* memberBytes({ archive, entry }: ArchiveMember): AsyncIterable<Uint8Array> {
  for await (const file of opened(archive, archive)) {
    const found = (await entriesOf(file)).get(entry);
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

/** An archive while it is read; another `version` has other bytes. */
type OpenArchive = RandomAccess & { readonly version: string };

/** The directory that was read last: the files of an archive are read one after the other. */
const last: { version: string; entries: ReadonlyMap<string, ZipEntry> } = { version: '', entries: new Map() };

/** The entries by their names, in the order of the archive. */
const entriesOf = async (file: OpenArchive): Promise<ReadonlyMap<string, ZipEntry>> => {
  if (last.version !== file.version) {
    const entries = await listZipEntries(file);
    last.entries = new Map(entries.map((entry) => [entry.name, entry]));
    last.version = file.version;
  }
  return last.entries;
};

async function* opened(path: string, name: string): AsyncIterable<OpenArchive> {
  const file = await openFileHandle(path);
  try {
    const { dev, ino, size, mtimeMs } = await file.stat();
    yield {
      name,
      size,
      version: `${path} ${dev} ${ino} ${size} ${mtimeMs}`,
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
