import { openDirectoryContents } from '@stemma/contents';
import {
  openWriter,
  readPartition,
  checkpointAtStart,
  verifyLog,
  type ContentSource,
  type EventLog,
  type HeadState,
  type LogReport,
} from '@stemma/log';
import { NO_CONTENTS, noteIntent, openNoteRows } from '@stemma/log/contract';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backUp, restoreBackup, type BackupReport, type RestoreReport } from '../src/index.ts';

/** A folder that is gone when `using` ends. */
export const temporaryFolder = (): Disposable & {
  readonly path: string;
  readonly at: (name: string) => string;
} => {
  const path = mkdtempSync(join(tmpdir(), 'stemma-backup-'));
  return {
    path,
    at: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
};

/** An embedded log with small segments in `home`. */
export const openLog = (home: string, partitions?: number): Promise<EventLog> =>
  openEmbeddedLog({
    directory: join(home, 'log'),
    segmentBytes: 4096,
    stepBytes: 1024,
    ...(partitions !== undefined && { partitions }),
  });

/** Writes so many notes to each history; returns when they are acknowledged. */
export const writeNotes = async (
  log: EventLog,
  histories: readonly string[],
  count: number,
  run: string,
): Promise<void> => {
  const rows = openNoteRows(log);
  await rows.catchUp();
  const writer = openWriter(log, {
    domain: rows.domain,
    contents: NO_CONTENTS,
    random: () => 0.5,
    now: () => performance.now(),
    sleep: async () => undefined,
    tries: 100,
  });
  for (let i = 0; i < count; i++)
    await Promise.all(
      histories.map((history) => writer.write(noteIntent(history, `${run}${i}`, `${run}${i}`))),
    );
  await writer.close();
};

export type BackupRun = {
  readonly contents?: ContentSource;
  readonly inPlace?: boolean;
  readonly signal?: AbortSignal;
  readonly progress?: (bytes: number) => void;
};

export const backUpTo = (
  log: EventLog,
  to: string,
  { contents = NO_CONTENTS, inPlace = true, signal = new AbortController().signal, progress }: BackupRun = {},
): Promise<BackupReport> =>
  backUp({
    log,
    contents,
    inPlace,
    to,
    signal,
    home: `${to}.none`,
    now: () => 1_700_000_000_000,
    ...(progress && { progress }),
  });

export const restoreTo = (from: string, to: string): Promise<RestoreReport> =>
  restoreBackup({ from, to, signal: new AbortController().signal });

/** Every record of a log: where it stands, its key and its bytes. */
export const recordsOf = async (log: EventLog): Promise<string[]> => {
  const found: string[] = [];
  for (let partition = 0; partition < log.partitions; partition++)
    for (let at = 0; at < (await log.end(partition));) {
      const { records, next } = await log.read(partition, at);
      found.push(
        ...records.map(
          ({ offset, key, bytes }) => `${partition}@${offset} ${key} ${Buffer.from(bytes).toString('hex')}`,
        ),
      );
      at = next;
    }
  return found;
};

/** The accepted frames of every history, in the order of each partition. */
export const framesOf = async (log: EventLog): Promise<string[]> => {
  const found: string[] = [];
  for (let partition = 0; partition < log.partitions; partition++) {
    const known = new Map<string, HeadState>();
    for await (const batch of readPartition(log, {
      checkpoint: await checkpointAtStart(log, partition),
      heads: { load: () => known },
    })) {
      for (const [history, head] of batch.heads) known.set(history, head);
      found.push(
        ...batch.accepted
          .filter(({ control }) => !control)
          .map(
            ({ envelope, hash }) =>
              `${partition} ${envelope.history}@${envelope.seq} ${Buffer.from(hash).toString('hex')}`,
          ),
      );
    }
  }
  return found;
};

export const reportOf = async (home: string): Promise<LogReport> => {
  const log = await openLog(home);
  try {
    return await verifyLog(log, { contents: await openDirectoryContents(join(home, 'contents')) });
  } finally {
    await log.close();
  }
};

export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted((a, b) => (a < b ? -1 : 1));

export const bytesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    filesIn(folder).map((file) => [file.slice(folder.length), readFileSync(file, 'base64')]),
  );
