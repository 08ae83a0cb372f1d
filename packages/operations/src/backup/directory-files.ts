import { codeOf, io } from './file-errors.ts';
import { fail } from '@stemma/errors';
import { beganAt, isAlive } from '@stemma/machine';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { BackupFiles, WritableBackupFiles } from './backup-files.ts';
import { MANIFEST, PARTIAL } from './manifest.ts';

const RUNNING = 'running';
const TEMPORARY = '.tmp';

/** The files of a backup in a directory. */
export const readDirectoryFiles = (directory: string): BackupFiles => ({
  place: directory,
  read: (name) =>
    io(directory, async () => {
      try {
        return await readFile(join(directory, name));
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null;
        throw error;
      }
    }),
  has: (name) =>
    io(directory, async () => (await stat(join(directory, name)).catch(() => undefined)) !== undefined),
  names: () =>
    io(directory, async () => {
      if ((await stat(directory).catch(() => undefined)) === undefined) return [];
      return (await readdir(directory, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'));
    }),
  close: async () => undefined,
});

/**
 * Opens a directory to write a backup to: a new or empty one, or one that holds a backup. One process at a time.
 *
 * @throws E_BACKUP_NOT_FOUND if it holds something else; E_BUSY while another process writes to it; E_IO
 */
export const writeDirectoryFiles = async (directory: string): Promise<WritableBackupFiles> => {
  const files = readDirectoryFiles(directory);
  await io(directory, () => mkdir(directory, { recursive: true, mode: 0o700 }));
  const there = await io(directory, () => readdir(directory));
  const known = [MANIFEST, PARTIAL, RUNNING].some((name) => there.includes(name));
  if (there.length > 0 && !known)
    throw fail('E_BACKUP_NOT_FOUND', `${directory} is not empty, and holds no backup`, { directory });
  await claim(directory);
  return {
    ...files,
    write: (name, bytes) => io(directory, () => replaceFile(join(directory, name), bytes)),
    remove: (name) => io(directory, () => rm(join(directory, name), { force: true })),
    grows: true,
    publish: async () => undefined,
    close: () => io(directory, () => rm(join(directory, RUNNING), { force: true })),
  };
};

/** Two runs at once would remove each other's files. A note that a killed process left behind counts for nothing. */
const claim = async (directory: string): Promise<void> => {
  const path = join(directory, RUNNING);
  const mine = `${process.pid} ${beganAt(process.pid) ?? ''}`;
  for (let tries = 0; ; tries++) {
    try {
      await io(directory, async () => {
        const file = await open(path, 'wx', 0o600);
        await file.writeFile(mine);
        await file.close();
      });
      return;
    } catch (error) {
      const other = await readFile(path, 'utf8').catch(() => undefined);
      if (other === undefined && tries === 0) throw error;
      const [pid = '', began = ''] = (other ?? '').split(' ');
      const alive = /^[1-9]\d*$/.test(pid) && isAlive(Number(pid), began === '' ? undefined : began);
      if (alive || tries > 2)
        throw fail('E_BUSY', `process ${pid} is writing a backup to ${directory}`, { pid: Number(pid) });
      await rm(path, { force: true });
    }
  }
};

/** Writes a file whole or not at all: a temporary file, synced, renamed, and the folder synced. */
export const replaceFile = async (path: string, bytes: Uint8Array): Promise<void> => {
  const folder = dirname(path);
  const temporary = `${path}${TEMPORARY}`;
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
  // New folders are in folders of their own.
  for (let at = folder; made !== undefined && at.length >= made.length; at = dirname(at))
    await syncFolder(dirname(at));
};

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
