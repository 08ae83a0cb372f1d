import { echo, fail } from '@stemma/errors';
import { verifyLog, type Erasure } from '@stemma/log';
import { openFileHandle, replaceFile } from '@stemma/machine';
import { noteFile, openKeyring } from '@stemma/privacy';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { problemOf } from './back-up.ts';
import type { BackupFiles } from './backup-files.ts';
import { backupContents, contentName, openBackupLog, readPiece } from './backup-log.ts';
import { io } from './file-errors.ts';
import type { BackupManifest, BackupPiece, BackupProblem } from './manifest.ts';
import { openBackup } from './open-files.ts';

export type RestoreOptions = {
  /** A directory or an archive that {@link backUp} wrote. */
  readonly from: string;
  /** The home to make: a directory that is empty or not there. */
  readonly to: string;
  readonly signal: AbortSignal;
  readonly progress?: (bytes: number, total: number) => void;
};

export type RestoreReport = {
  readonly log: string;
  readonly to: string;
  /** When the backup began. */
  readonly began: string;
  readonly records: number;
  readonly bytes: number;
  readonly contents: number;
  /** What was wrong in the log when it was backed up, and is in the restored one. */
  readonly problems: readonly BackupProblem[];
  /** Files of keys and rules that the home had, and nobody but its owner can put back. */
  readonly missing: readonly string[];
};

/**
 * Makes a home of a backup, after verifying all of it: the same log with the same id, on embedded segments, and its
 * contents. Rows are built when the home is opened.
 *
 * @throws E_BACKUP_DAMAGED, with the file, before anything is made; E_BACKUP_NOT_FOUND, E_HOME_NOT_EMPTY, E_IO, E_CANCELLED
 */
export const restoreBackup = async (options: RestoreOptions): Promise<RestoreReport> => {
  const { from, signal, progress = () => undefined } = options;
  const to = resolve(options.to);
  await refuseFull(to);
  const { files, manifest } = await openBackup(from);
  try {
    const total = manifest.partitions.reduce((sum, { end }) => sum + end, 0);
    const count = (done: number): void => {
      signal.throwIfAborted();
      progress(done, 2 * total);
    };
    const { contents, erasures } = await verifyBackup(files, manifest, count);
    await io(to, () => mkdir(dirname(to), { recursive: true }));
    const temporary = await io(to, () => mkdtemp(`${to}.restoring-`));
    try {
      await writeHome(temporary, files, manifest, contents, (done) => count(total + done));
      // Keys and what is noted beside them are in no backup, but the log says what was erased.
      const keyring = openKeyring(temporary);
      await io(to, async () => {
        for (const [history, erasure] of erasures) keyring.destroy(history, erasure);
      });
      // Without them the home would make other keys, and record what rules took out: it refuses that until they are put back.
      for (const [file, print] of Object.entries(manifest.noted)) noteFile(temporary, file, print);
      // Takes the place of an empty directory too; fails if somebody has put something there.
      await io(to, () => rename(temporary, to));
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
    const { log, began, records, problems } = manifest;
    return {
      log,
      to,
      began,
      records,
      bytes: total,
      contents: contents.size,
      problems,
      missing: Object.keys(manifest.noted),
    };
  } finally {
    await files.close();
  }
};

const refuseFull = async (to: string): Promise<void> => {
  const there = await readdir(to).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  if (there.length > 0)
    throw fail('E_HOME_NOT_EMPTY', `${to} is not empty: nothing is restored over what exists`, { to });
};

type VerifiedBackup = {
  /** The hashes of the contents that the frames name. */
  readonly contents: ReadonlySet<string>;
  /** The histories that were erased before the backup was made. */
  readonly erasures: ReadonlyMap<string, Erasure>;
};

/** @throws E_BACKUP_DAMAGED */
const verifyBackup = async (
  files: BackupFiles,
  manifest: BackupManifest,
  count: (done: number) => void,
): Promise<VerifiedBackup> => {
  const contents = backupContents(files);
  const found = new Set<string>();
  const erasures = new Map<string, Erasure>();
  const verified = await verifyLog(openBackupLog(files, manifest), {
    contents: {
      get: async (ref) => {
        const bytes = await contents.get(ref);
        found.add(ref.sha256);
        return bytes;
      },
    },
    erased: (history, erasure) => erasures.set(history, erasure),
    progress: (_partition, offset) => count(offset),
  });
  const known = new Set(manifest.problems.map(nameOf));
  const added = verified.problems.map(problemOf).find((problem) => !known.has(nameOf(problem)));
  if (added !== undefined)
    throw fail(
      'E_BACKUP_DAMAGED',
      `the backup ${echo(files.place)} is damaged at the record ${added.partition}@${added.offset}: ${added.message}`,
      { partition: added.partition, offset: added.offset },
    );
  return { contents: found, erasures };
};

const nameOf = ({ partition, offset, code }: BackupProblem): string => `${partition}@${offset} ${code}`;

/** Pieces become segments of about this size. */
const SEGMENT_BYTES = 64 * 1024 * 1024;

const writeHome = async (
  home: string,
  files: BackupFiles,
  { log, partitions }: BackupManifest,
  contents: ReadonlySet<string>,
  count: (done: number) => void,
): Promise<void> => {
  let done = 0;
  for (const [partition, { pieces }] of partitions.entries()) {
    const folder = join(home, 'log', String(partition));
    await io(home, () => mkdir(folder, { recursive: true, mode: 0o700 }));
    for (const segment of segmentsOf(pieces)) {
      const name = `${String(segment[0]?.base ?? 0).padStart(16, '0')}.seg`;
      await writeSegment(join(folder, name), segment, files, (bytes) => count((done += bytes)));
    }
  }
  await io(home, () => replaceFile(join(home, 'log', 'id'), log));
  await io(home, () => mkdir(join(home, 'contents'), { recursive: true, mode: 0o700 }));
  for (const sha256 of contents) {
    const name = contentName(sha256);
    const bytes = await files.read(name);
    if (bytes === null) throw fail('E_BACKUP_DAMAGED', `${name} is gone`, { file: name });
    await io(home, () => replaceFile(join(home, name), bytes));
    count(done);
  }
};

/** Pieces that follow each other, together as long as a segment. */
function* segmentsOf(pieces: readonly BackupPiece[]): Generator<readonly BackupPiece[]> {
  let segment: BackupPiece[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    segment.push(piece);
    bytes += piece.bytes;
    if (bytes < SEGMENT_BYTES) continue;
    yield segment;
    [segment, bytes] = [[], 0];
  }
  if (segment.length > 0) yield segment;
}

const writeSegment = async (
  path: string,
  pieces: readonly BackupPiece[],
  files: BackupFiles,
  count: (bytes: number) => void,
): Promise<void> => {
  const file = await io(path, () => openFileHandle(path, 'new'));
  try {
    for (const piece of pieces) {
      const bytes = await readPiece(files, piece);
      await io(path, () => file.writeFile(bytes));
      count(bytes.length);
    }
    await io(path, () => file.sync());
  } finally {
    await file.close();
  }
};
