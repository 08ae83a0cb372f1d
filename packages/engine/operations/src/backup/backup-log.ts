import { type ContentRef, sha256Hex } from '@stemma/canonical';
import { missingContent, verifiedContent } from '@stemma/contents';
import { echo, fail } from '@stemma/errors';
import type { ContentSource, EventLog, LogRecord } from '@stemma/log';
import type { BackupFiles } from './backup-files.ts';
import type { BackupManifest, BackupPiece } from './manifest.ts';
import { recordsOf } from './pieces.ts';

/** The bytes of a piece. @throws E_BACKUP_DAMAGED if it is missing, cut or altered */
export const readPiece = async (files: BackupFiles, piece: BackupPiece): Promise<Buffer> => {
  const { name, bytes, sha256 } = piece;
  const read = await files.read(name);
  if (read === null)
    throw fail('E_BACKUP_DAMAGED', `${name} is missing in the backup ${echo(files.place)}`, { file: name });
  if (read.length !== bytes)
    throw fail('E_BACKUP_DAMAGED', `${name} has ${read.length} bytes instead of ${bytes}`, { file: name });
  if (sha256Hex(read) === sha256) return read;
  throw fail('E_BACKUP_DAMAGED', `${name} has other bytes than its hash says`, { file: name });
};

/** The log in a backup, for reading: every piece is verified when it is read. @throws E_BACKUP_DAMAGED while reading */
export const openBackupLog = (files: BackupFiles, manifest: BackupManifest): EventLog => {
  let loaded: { readonly name: string; readonly records: readonly LogRecord[] } | undefined;
  const partitionAt = (partition: number): BackupManifest['partitions'][number] => {
    const found = manifest.partitions[partition];
    if (found === undefined) throw fail('E_LOG_MISMATCH', `there is no partition ${partition}`);
    return found;
  };
  return {
    id: manifest.log,
    partitions: manifest.partitions.length,
    keepsItsEnd: true,
    append: () => Promise.reject(fail('E_LOG_CLOSED', 'a backup is not written to', { written: false })),
    read: async (partition, from) => {
      const { pieces, damage, end } = partitionAt(partition);
      if (from === end) return { records: [], next: from };
      const piece = pieces.find(({ base, bytes }) => base <= from && from < base + bytes);
      if (piece === undefined) throw fail('E_CURSOR_LOST', `no record begins at ${partition}@${from}`);
      if (loaded?.name !== piece.name)
        loaded = { name: piece.name, records: recordsOf(await readPiece(files, piece), piece, damage) };
      const records = loaded.records.filter(({ offset }) => offset >= from);
      return { records, next: records.at(-1)?.next ?? from };
    },
    end: async (partition) => partitionAt(partition).end,
    start: async () => 0,
    wait: async () => undefined,
    close: async () => undefined,
  };
};

export const contentName = (sha256: string): string => `contents/${sha256.slice(0, 2)}/${sha256.slice(2)}`;

/** The contents in a backup. @throws E_CONTENT_MISSING, E_CONTENT_DAMAGED */
export const backupContents = (files: BackupFiles): ContentSource => ({
  get: async (ref: ContentRef) => {
    const bytes = await files.read(contentName(ref.sha256));
    if (bytes === null) throw missingContent(ref);
    return verifiedContent(ref, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  },
});
