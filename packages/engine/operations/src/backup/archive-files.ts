import { fail } from '@stemma/errors';
import { openFileHandle, syncFolder } from '@stemma/machine';
import { rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pack } from 'tar-stream';
import type { BackupFiles, WritableBackupFiles } from './backup-files.ts';
import { io } from './file-errors.ts';
import { MANIFEST } from './manifest.ts';

/*
 * One tar archive. It is read at places, not from one end to the other, since a frame may name any content: so its heads are
 * listed once, and the library only writes it.
 */

const BLOCK = 512;

type Stored = { readonly at: number; readonly size: number };

/** The files of a backup in an archive. @throws E_BACKUP_NOT_FOUND, E_BACKUP_DAMAGED if it is cut or no archive */
export const readArchiveFiles = async (path: string): Promise<BackupFiles> => {
  if ((await stat(path).catch(() => undefined)) === undefined)
    throw fail('E_BACKUP_NOT_FOUND', `there is no backup ${path}`, { path });
  const file = await io(path, () => openFileHandle(path));
  try {
    const files = await io(path, () => listArchive(file, path));
    return filesOf(path, file, files);
  } catch (error) {
    await file.close();
    throw error;
  }
};

const filesOf = (place: string, file: FileHandle, files: ReadonlyMap<string, Stored>): BackupFiles => ({
  place,
  read: (name) =>
    io(place, async () => {
      const stored = files.get(name);
      if (stored === undefined) return null;
      const bytes = Buffer.allocUnsafeSlow(stored.size);
      const { bytesRead } = await file.read(bytes, 0, stored.size, stored.at);
      return bytes.subarray(0, bytesRead);
    }),
  has: async (name) => files.has(name),
  names: async () => [...files.keys()],
  close: () => file.close(),
});

const listArchive = async (file: FileHandle, path: string): Promise<Map<string, Stored>> => {
  const files = new Map<string, Stored>();
  const head = Buffer.alloc(BLOCK);
  const { size: end } = await file.stat();
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(head, 0, BLOCK, at);
    if (bytesRead < BLOCK)
      throw fail('E_BACKUP_DAMAGED', `the archive ${path} ends in the middle, at byte ${at + bytesRead}`, {
        file: path,
        offset: at + bytesRead,
      });
    if (head.every((byte) => byte === 0)) return files;
    const name = textIn(head, 0, 100).replace(/^\.\//, '');
    const size = Number.parseInt(textIn(head, 124, 12), 8);
    if (Number.parseInt(textIn(head, 148, 8), 8) !== checksum(head) || !(size >= 0))
      throw fail('E_BACKUP_DAMAGED', `the archive ${path} is damaged at byte ${at}`, {
        file: path,
        offset: at,
      });
    if (at + BLOCK + size > end)
      throw fail('E_BACKUP_DAMAGED', `the archive ${path} ends in the middle of ${name}`, {
        file: path,
        offset: end,
      });
    if (head[156] === 0x30 || head[156] === 0) files.set(name, { at: at + BLOCK, size });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
};

const textIn = (head: Buffer, at: number, length: number): string =>
  head
    .toString('latin1', at, at + length)
    .replace(/\0.*$/s, '')
    .trim();

/** The sum of the bytes of a head, those of the sum itself as spaces. */
const checksum = (head: Buffer): number =>
  head.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 0x20 : byte), 0);

/**
 * Writes an archive beside the one that is there, which it replaces when it is complete.
 *
 * @throws E_BACKUP_NOT_FOUND if something else is there; E_IO
 */
export const writeArchiveFiles = async (path: string): Promise<WritableBackupFiles> => {
  if ((await stat(path).catch(() => undefined)) !== undefined) {
    const there = await readArchiveFiles(path).catch(() => undefined);
    const isBackup = (await there?.has(MANIFEST)) === true;
    await there?.close();
    if (!isBackup) throw fail('E_BACKUP_NOT_FOUND', `${path} is there, and is no backup`, { path });
  }
  const partial = `${path}.partial`;
  const file = await io(path, async () => {
    const made = await openFileHandle(partial, 'make');
    await made.truncate(0);
    return made;
  });
  const files = new Map<string, Stored>();
  let end = 0;
  let published = false;
  return {
    ...filesOf(path, file, files),
    write: (name, bytes) =>
      io(path, async () => {
        const entry = await entryBytes(name, bytes);
        await writeAll(file, entry, end);
        files.set(name, { at: end + BLOCK, size: bytes.length });
        end += entry.length;
      }),
    grows: false,
    remove: async () => undefined,
    publish: () =>
      io(path, async () => {
        await writeAll(file, Buffer.alloc(2 * BLOCK), end);
        await file.sync();
        await rename(partial, path);
        published = true;
        await syncFolder(dirname(path));
      }),
    close: async () => {
      await file.close();
      if (!published) await rm(partial, { force: true });
    },
  };
};

const writeAll = async (file: FileHandle, bytes: Buffer, at: number): Promise<void> => {
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
};

/** Head, bytes and padding of one file. */
const entryBytes = async (name: string, bytes: Uint8Array): Promise<Buffer> => {
  const writing = pack();
  writing.entry({ name, mode: 0o600, mtime: new Date(0) }, Buffer.from(bytes));
  writing.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of writing) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks);
  // Without the two empty blocks that end an archive.
  return all.subarray(0, all.length - 2 * BLOCK);
};
