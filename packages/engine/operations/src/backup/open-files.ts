import { echo, fail } from '@stemma/errors';
import { stat } from 'node:fs/promises';
import { readArchiveFiles, writeArchiveFiles } from './archive-files.ts';
import type { BackupFiles, WritableBackupFiles } from './backup-files.ts';
import { readDirectoryFiles, writeDirectoryFiles } from './directory-files.ts';
import { decodeManifest, MANIFEST, PARTIAL, type BackupManifest } from './manifest.ts';

/** A file that is there, or a name that ends with `.tar`, is an archive; anything else a directory. */
const isArchive = async (path: string): Promise<boolean> => {
  const there = await stat(path).catch(() => undefined);
  return there === undefined ? path.endsWith('.tar') : there.isFile();
};

/** @throws E_BACKUP_NOT_FOUND, E_BUSY, E_IO */
export const openForBackup = async (path: string): Promise<WritableBackupFiles> =>
  (await isArchive(path)) ? writeArchiveFiles(path) : writeDirectoryFiles(path);

/** A complete backup. @throws E_BACKUP_NOT_FOUND, E_BACKUP_DAMAGED, E_IO */
export const openBackup = async (
  path: string,
): Promise<{ readonly files: BackupFiles; readonly manifest: BackupManifest }> => {
  const files = (await isArchive(path)) ? await readArchiveFiles(path) : readDirectoryFiles(path);
  try {
    const bytes = await files.read(MANIFEST);
    if (bytes !== null) return { files, manifest: decodeManifest(bytes, MANIFEST) };
    if (
      (await files.names()).some(
        (name) => name === PARTIAL || /^log\/\d+\/\d{16}-[\da-f]{8}\.seg$/.test(name),
      )
    )
      throw fail(
        'E_BACKUP_DAMAGED',
        `the backup ${echo(path)} has no ${MANIFEST}: its first run did not end`,
        {
          file: MANIFEST,
        },
      );
    throw fail('E_BACKUP_NOT_FOUND', `there is no backup in ${echo(path)}`, { path });
  } catch (error) {
    await files.close();
    throw error;
  }
};
