import { compareCodePoints, ContentRef, sha256Hex } from '@stemma/canonical';
import { fail, isStemmaError, reasonOf } from '@stemma/errors';
import { makeFolder, readRegularFile, refuseIrregular, syncFolder, writeSynced } from '@stemma/machine';
import { randomBytes } from 'node:crypto';
import { mkdir, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { damagedContent, missingContent, refuseTooLarge, verifiedContent } from './checks.ts';
import { MAX_CONTENT_BYTES, type ContentStore } from './port.ts';

/**
 * Contents as files of one directory, `ab/cdef…` by the hex of their SHA-256; several processes may use it at once.
 * Files that a killed process left half written are under `tmp/` and never read.
 *
 * @param directory is made if missing. What is made is for its owner alone.
 */
export const openDirectoryContents = async (directory: string): Promise<ContentStore> => {
  const temporary = join(directory, 'tmp');
  // Where nothing can be written, contents are read all the same, and what is put says it.
  await io(() => mkdir(temporary, { recursive: true, mode: 0o700 }).catch(unlessReadOnly));
  const pathOf = ({ sha256 }: ContentRef): string => join(directory, sha256.slice(0, 2), sha256.slice(2));

  return {
    put: async (bytes) => {
      refuseTooLarge(bytes.length);
      const ref = new ContentRef(sha256Hex(bytes), bytes.length);
      const path = pathOf(ref);
      const known = await read(path);
      if (!known) await io(() => store(temporary, path, bytes));
      else {
        verifiedContent(ref, known);
        // The process that wrote the file may not have synced the folder yet.
        await io(() => syncFolder(dirname(path)));
        await io(() => syncFolder(directory));
      }
      return ref;
    },
    get: async (ref) => {
      const bytes = await read(pathOf(ref), ref);
      if (!bytes) throw missingContent(ref);
      return verifiedContent(ref, bytes);
    },
    missing: async (refs) => {
      const lengths = await Promise.all(refs.map((ref) => lengthOf(pathOf(ref))));
      return refs.filter(({ size }, i) => lengths[i] !== size);
    },
    list: () => listed(directory),
    close: async () => undefined,
  };
};

/** Written to a temporary file, synced, renamed, and the folder synced: the content is stored whole or not at all. */
const store = async (temporary: string, path: string, bytes: Uint8Array): Promise<void> => {
  const temporaryFile = join(temporary, randomBytes(12).toString('hex'));
  const folder = dirname(path);
  try {
    await writeSynced(temporaryFile, bytes);
    makeFolder(folder);
    await rename(temporaryFile, path);
    await syncFolder(folder);
  } finally {
    await rm(temporaryFile, { force: true });
  }
};

/** The file's bytes, or undefined if there is none. A file that is longer than a content may be is not read. */
const read = async (path: string, ref?: ContentRef): Promise<Uint8Array | undefined> =>
  io(async () => {
    try {
      const size = refuseIrregular(path)?.size ?? 0;
      if (size > MAX_CONTENT_BYTES) throw damagedContent(ref ?? new ContentRef(hashOf(path), size));
      const bytes = readRegularFile(path, MAX_CONTENT_BYTES);
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      if (isStemmaError(error)) throw error;
      throw fail('E_IO', `the content ${path} cannot be read: ${reasonOf(error)}`, {
        errno: codeOf(error) ?? '',
      });
    }
  });

const lengthOf = (path: string): Promise<number | undefined> =>
  io(async () => {
    try {
      return (await stat(path)).size;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  });

const hashOf = (path: string): string => path.slice(-65).replace(/[/\\]/, '');

async function* listed(directory: string): AsyncGenerator<ContentRef> {
  for (const prefix of await names(directory, /^[0-9a-f]{2}$/)) {
    for (const rest of await names(join(directory, prefix), /^[0-9a-f]{62}$/)) {
      const { size } = await io(() => stat(join(directory, prefix, rest)));
      yield new ContentRef(prefix + rest, size);
    }
  }
}

const names = async (directory: string, pattern: RegExp): Promise<readonly string[]> =>
  io(async () => {
    const found: string[] = [];
    for await (const { name } of await opendir(directory)) if (pattern.test(name)) found.push(name);
    return found.sort(compareCodePoints);
  });

const unlessReadOnly = (error: unknown): undefined => {
  if (!['EROFS', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) throw error;
  return undefined;
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** The result of `action`; errors of the file system become E_IO. */
const io = async <T>(action: () => Promise<T>): Promise<T> => {
  try {
    return await action();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || code.startsWith('E_')) throw error;
    throw fail('E_IO', `the contents store cannot be used: ${reasonOf(error)}`, {
      errno: code,
    });
  }
};
