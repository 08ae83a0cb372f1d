import type { ContentRef } from '@stemma/canonical';
import { echo, fail, isStemmaError } from '@stemma/errors';
import { notesOf } from '@stemma/privacy';
import { decodeBody, missingContents, verifyLog, type EventLog, type OpenRecord } from '@stemma/log';
import type { ContentSource, LogProblem } from '@stemma/log';
import { backupContents, contentName, openBackupLog, readPiece } from './backup-log.ts';
import type { WritableBackupFiles } from './backup-files.ts';
import { copyRecords } from './copy-records.ts';
import {
  decodeManifest,
  encodeManifest,
  MANIFEST,
  PARTIAL,
  type BackupManifest,
  type BackupPartition,
  type BackupProblem,
} from './manifest.ts';
import { openForBackup } from './open-files.ts';
import { checkSource } from './source-cursor.ts';

export type BackupOptions = {
  readonly log: EventLog;
  readonly contents: ContentSource;
  /** The log is an embedded one: records keep their offsets. */
  readonly inPlace: boolean;
  /** A directory, which later backups add to, or a file `….tar`, which they replace. */
  readonly to: string;
  /** The home of the log: what it has noted of its keys and rules is in the backup, they are not. */
  readonly home: string;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly progress?: (bytes: number, total: number) => void;
};

export type BackupReport = {
  readonly log: string;
  readonly to: string;
  readonly began: string;
  /** All that the backup holds, read again and verified. */
  readonly records: number;
  readonly bytes: number;
  readonly contents: number;
  /** What this run added. */
  readonly added: { readonly bytes: number; readonly contents: number };
  readonly partitions: readonly { readonly partition: number; readonly end: number }[];
  /** What is wrong in the log: it was backed up as it is. */
  readonly problems: readonly BackupProblem[];
};

/**
 * Backs up a log and the contents that its frames name, while others write to it: of each partition all that was acknowledged
 * before the backup began. Into a directory it copies only what is new. Then it reads the backup again and verifies
 * every record, what its frame says of the one before it, and every content; only then does it replace the manifest of the backup before. A run that was
 * interrupted at any place leaves that one whole, and the next run continues.
 *
 * @throws E_BACKUP_DIFFERS, E_BACKUP_DAMAGED, E_BACKUP_NOT_FOUND, E_BUSY, E_IO, E_CANCELLED
 */
export const backUp = async (options: BackupOptions): Promise<BackupReport> => {
  const { log, contents, to, signal, progress = () => undefined } = options;
  const began = new Date(options.now()).toISOString();
  const numbers = Array.from({ length: log.partitions }, (_, partition) => partition);
  const ends = await Promise.all(numbers.map((partition) => log.end(partition)));
  const total = ends.reduce((sum, end) => sum + end, 0);
  const files = await openForBackup(to);
  try {
    let draft = { ...(await beginning(files, log)), began, noted: notesOf(options.home) };
    const before = bytesIn(draft.partitions);
    for (const [partition, { source }] of draft.partitions.entries())
      await checkSource(log, partition, source, to);
    await removeLeftovers(files, draft);
    const keeper = contentKeeper(files, contents);
    for (const partition of numbers) {
      const saved = async (state: BackupPartition): Promise<void> => {
        draft = { ...draft, partitions: draft.partitions.map((old, n) => (n === partition ? state : old)) };
        if (files.grows) await files.write(PARTIAL, encodeManifest(draft));
      };
      await copyRecords(draft.partitions[partition] as BackupPartition, {
        ...options,
        partition,
        end: ends[partition] as number,
        files,
        keepContents: keeper.keep,
        saved,
        progress: () => progress(bytesIn(draft.partitions), 2 * total),
      });
    }
    const verified = await verifyLog(openBackupLog(files, draft), {
      contents: keeper.source,
      progress: (_partition, offset) => {
        signal.throwIfAborted();
        progress(total + offset, 2 * total);
      },
    });
    const manifest: BackupManifest = {
      ...draft,
      records: verified.records,
      accepted: verified.accepted,
      contents: keeper.named(),
      problems: verified.problems.map(problemOf),
    };
    await files.write(MANIFEST, encodeManifest(manifest));
    await files.remove(PARTIAL);
    await files.publish();
    return {
      log: log.id,
      to,
      began,
      records: manifest.records,
      bytes: bytesIn(manifest.partitions),
      contents: manifest.contents,
      added: { bytes: bytesIn(manifest.partitions) - before, contents: keeper.added() },
      partitions: manifest.partitions.map(({ end }, partition) => ({ partition, end })),
      problems: manifest.problems,
    };
  } finally {
    await files.close();
  }
};

const bytesIn = (partitions: readonly BackupPartition[]): number =>
  partitions.reduce((sum, { end }) => sum + end, 0);

export const problemOf = ({ partition, offset, history, code, message }: LogProblem): BackupProblem => ({
  partition,
  offset,
  history,
  code,
  message,
});

/** What this run adds to: a run that was interrupted, else the backup before, else nothing. */
const beginning = async (files: WritableBackupFiles, log: EventLog): Promise<BackupManifest> => {
  const last = await files.read(MANIFEST);
  const manifest = last === null ? await fresh(log) : decodeManifest(last, MANIFEST);
  if (manifest.log !== log.id || manifest.partitions.length !== log.partitions)
    throw fail(
      'E_BACKUP_DIFFERS',
      `${echo(files.place)} is a backup of the log ${manifest.log}, not of ${log.id}`,
      {
        log: manifest.log,
      },
    );
  return (await interrupted(files, manifest)) ?? manifest;
};

/** The state of an interrupted run, if it continues the manifest and all that it added is there. */
const interrupted = async (
  files: WritableBackupFiles,
  manifest: BackupManifest,
): Promise<BackupManifest | undefined> => {
  const bytes = await files.read(PARTIAL);
  if (bytes === null) return undefined;
  try {
    const partial = decodeManifest(bytes, PARTIAL);
    if (partial.log !== manifest.log || partial.partitions.length !== manifest.partitions.length)
      return undefined;
    for (const [n, { pieces }] of partial.partitions.entries()) {
      const old = manifest.partitions[n]?.pieces ?? [];
      if (old.some(({ name }, i) => pieces[i]?.name !== name)) return undefined;
      for (const piece of pieces.slice(old.length)) await readPiece(files, piece);
    }
    return partial;
  } catch (error) {
    if (isStemmaError(error, 'E_BACKUP_DAMAGED')) return undefined;
    throw error;
  }
};

const fresh = async (log: EventLog): Promise<BackupManifest> => ({
  format: 1,
  log: log.id,
  began: '',
  records: 0,
  accepted: 0,
  contents: 0,
  problems: [],
  noted: {},
  partitions: await Promise.all(
    Array.from({ length: log.partitions }, async (_, partition) => ({
      end: 0,
      pieces: [],
      damage: [],
      source: { offset: await log.start(partition), from: [], tail: '' },
    })),
  ),
});

/** Pieces that no manifest names, and halves of files. */
const removeLeftovers = async (files: WritableBackupFiles, draft: BackupManifest): Promise<void> => {
  const named = new Set(draft.partitions.flatMap(({ pieces }) => pieces.map(({ name }) => name)));
  for (const name of await files.names())
    if (
      /^(?:(?:log|contents)\/.*|[^/]*)\.tmp$/.test(name) ||
      (/^log\/.*\.seg$/.test(name) && !named.has(name))
    )
      await files.remove(name);
};

type ContentKeeper = {
  /** Stores the contents that a record names, and those that they name. What the source does not have is left out. */
  readonly keep: (open: OpenRecord) => Promise<void>;
  /** The contents of the backup; one that is missing or damaged there is fetched again. */
  readonly source: ContentSource;
  readonly named: () => number;
  readonly added: () => number;
};

const contentKeeper = (files: WritableBackupFiles, contents: ContentSource): ContentKeeper => {
  const backup = backupContents(files);
  const named = new Set<string>();
  let added = 0;
  const fetch = async (ref: ContentRef): Promise<Uint8Array> => {
    named.add(ref.sha256);
    try {
      return await backup.get(ref);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await files.write(contentName(ref.sha256), await contents.get(ref));
      added++;
      return backup.get(ref);
    }
  };
  return {
    source: { get: fetch },
    named: () => named.size,
    added: () => added,
    keep: async ({ envelope, frame, bodyAt }) => {
      const fetched = new Map<string, Uint8Array>();
      const find = (ref: ContentRef): Uint8Array | undefined => fetched.get(ref.sha256);
      try {
        const body = decodeBody(envelope.v, frame, bodyAt);
        for (let refs = missingContents(body, find); refs.length > 0; refs = missingContents(body, find))
          for (const ref of refs) fetched.set(ref.sha256, await fetch(ref));
      } catch (error) {
        // The verification that follows names it.
        if (!isMissing(error) && !isStemmaError(error, 'E_FRAME_INVALID')) throw error;
      }
    },
  };
};

const isMissing = (error: unknown): boolean =>
  isStemmaError(error, 'E_CONTENT_MISSING') || isStemmaError(error, 'E_CONTENT_DAMAGED');
