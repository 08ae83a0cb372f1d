import { codeOf, io } from './file-errors.ts';
import { fail } from '@stemma/errors';
import { beganAt, isAlive, openFileHandle, readRegularFile, replaceFile } from '@stemma/machine';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { BackupFiles, WritableBackupFiles } from './backup-files.ts';
import { MANIFEST, PARTIAL } from './manifest.ts';

const RUNNING = 'running';

/** No file of a backup is larger. */
const MOST = 2 ** 31 - 1;

/** The files of a backup in a directory. */
export const readDirectoryFiles = (directory: string): BackupFiles => ({
  place: directory,
  read: (name) =>
    io(directory, async () => {
      try {
        return readRegularFile(join(directory, name), MOST);
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null;
        if (codeOf(error) !== 'EINVAL') throw error;
        throw fail('E_BACKUP_DAMAGED', `${name} of the backup ${directory} is no file`, { directory, name });
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
        const file = await openFileHandle(path, 'new');
        await file.writeFile(mine);
        await file.close();
      });
      return;
    } catch (error) {
      const other = await io(directory, async () => readRegularFile(path).toString()).catch(() => undefined);
      if (other === undefined && tries === 0) throw error;
      const [pid = '', began = ''] = (other ?? '').split(' ');
      const alive = /^[1-9]\d*$/.test(pid) && isAlive(Number(pid), began === '' ? undefined : began);
      if (alive || tries > 2)
        throw fail('E_BUSY', `process ${pid} is writing a backup to ${directory}`, { pid: Number(pid) });
      await rm(path, { force: true });
    }
  }
};
