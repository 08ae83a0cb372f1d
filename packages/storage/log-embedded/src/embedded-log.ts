import { fail, visibleText } from '@stemma/errors';
import { endProcess as endNow } from '@stemma/machine';
import { openPartitions, type EventLog, type LogRecord, type RawLog } from '@stemma/log';
import { resolve } from 'node:path';
import { asLogError } from './as-log-error.ts';
import { openAppender, refuseUnknownPartition, type Appender, type LockFolder } from './appender.ts';
import { makeFolders, readAll, withFile, writeAll, type Disk } from './disk.ts';
import type { LockEnvironment, PartitionEnd } from './lock-environment.ts';
import type { LogMachine } from './log-machine.ts';
import { thisMachine } from './this-machine.ts';
import { MOST_BYTES, readRecords, type ReadHow } from './read-records.ts';
import { readKnown, segmentRangeAt, type SegmentRange } from './read-segments.ts';
import { idFile } from './refuse-gone.ts';
import { openFiles, partitionFolder, segmentBases } from './segments.ts';
import { openWaiters } from './waiters.ts';
import { watchSegments } from './watch-segments.ts';

export type EmbeddedLogOptions = {
  /** Made if missing, for its owner alone. */
  readonly directory: string;
  /** For a new log; an existing one must have the same number if it is given. Default 1. */
  readonly partitions?: number;
  /** About the size of a segment file. Default 64 MiB. */
  readonly segmentBytes?: number;
  /** How many bytes of zeros are preallocated. Default 1 MiB. */
  readonly stepBytes?: number;
  /** Milliseconds to wait for another process that holds the lock. Default 5,000. */
  readonly busyAfter?: number;
  /** How often to check for records of other processes, in milliseconds. Default 25. */
  readonly pollEvery?: number;
  /** Ends the process when the disk did not accept the data. Default: prints the error and exits with 74. */
  readonly onFatal?: (message: string) => void;
  /** Told in a sentence when the lock was damaged or copied, and was made anew from the segments. */
  readonly say?: (sentence: string) => void;
  /** For tests: which sync fails, counted from 1. */
  readonly failAtSync?: number;
};

/**
 * The log in one directory (record §6): durable before it is acknowledged, read and written by many processes at once.
 *
 * @throws E_LOG_MISMATCH if it has another number of partitions, E_LOG_BUSY, E_IO.
 */
export const openEmbeddedLog = (options: EmbeddedLogOptions): Promise<EventLog> =>
  openLogOn(thisMachine, options);

/** The same on a machine that may be simulated. */
export const openLogOn = async (machine: LogMachine, options: EmbeddedLogOptions): Promise<EventLog> => {
  const { disk } = machine;
  const directory = resolve(options.directory);
  makeDirectory(disk, directory);
  const appender = await openAppender(
    machine,
    {
      directory,
      partitions: options.partitions ?? 1,
      segmentBytes: options.segmentBytes ?? 64 * 1024 * 1024,
      stepBytes: options.stepBytes ?? 1024 * 1024,
      busyAfter: options.busyAfter ?? 5000,
      failAtSync: options.failAtSync ?? null,
    },
    options.onFatal ?? endProcess,
  );
  try {
    if (options.partitions !== undefined && options.partitions !== appender.partitions)
      throw fail('E_LOG_MISMATCH', `the log in ${directory} has ${appender.partitions} partitions`);
    const raw = openRaw(machine, directory, appender, options);
    const id = await openPartitions(raw, knownId(disk, directory) ?? machine.newId(), machine.clock());
    asLogError('the id of the log cannot be written', () => keepId(disk, directory, id));
    return { ...raw, id };
  } catch (error) {
    await appender.close();
    throw error;
  }
};

const makeDirectory = (disk: Disk, directory: string): void => {
  asLogError(`the directory ${directory} cannot be created`, () => makeFolders(disk, directory));
};

/** The log's id in a file beside the records, for a log whose first record is damaged; used for nothing else. */
const knownId = (disk: Disk, directory: string): string | undefined => {
  try {
    const text = withFile(disk, idFile(directory), 'read', (file) => readAll(disk, file, 37, 0));
    return /^[\da-f-]{36}$/.exec(text.toString('latin1'))?.[0];
  } catch {
    return undefined;
  }
};

const keepId = (disk: Disk, directory: string, id: string): void => {
  if (knownId(disk, directory) === id) return;
  withFile(disk, idFile(directory), 'make', (file) => {
    disk.cut(file, 0);
    writeAll(disk, file, Buffer.from(id), 0);
  });
};

/** Records could be lost if the process continued after a failed sync (record §6). */
const endProcess = (message: string): void => {
  process.stderr.write(`stemma: ${visibleText(message)}\n`);
  endNow(74);
};

const openRaw = (
  { disk, openLock, every }: LogMachine,
  directory: string,
  appender: Appender,
  { pollEvery = 25, say }: Pick<EmbeddedLogOptions, 'pollEvery' | 'say'>,
): RawLog => {
  const enter = ({ lock, repaired }: LockFolder): LockEnvironment => {
    for (const sentence of repaired) say?.(sentence);
    return openLock(lock);
  };
  let environment = enter(appender.lock);
  let entering: Promise<void> | undefined;
  /** The ends are read from the lock that appenders write to: another process may have replaced it. */
  const current = async (): Promise<void> => {
    if (closed || !environment.isReplaced()) return;
    entering ??= appender
      .enterAgain()
      .then(async (folder) => {
        await environment.close();
        environment = enter(folder);
        renewed();
      })
      .finally(() => (entering = undefined));
    await entering;
  };
  const files = openFiles(disk);
  const bases = new Map<number, readonly number[]>();
  /** The ends as they were last looked at, of files that were these. */
  const ends = new Map<number, PartitionEnd>();
  let epoch = 0;
  /** What is known of the files may not be true any more. */
  const renewed = (): void => {
    epoch++;
    files.close();
    bases.clear();
    ends.clear();
  };
  const lookAtSegments = watchSegments(disk, directory, renewed);
  let closed = false;

  const endOf = (partition: number): PartitionEnd => {
    if (closed) throw fail('E_LOG_CLOSED', 'the log was closed');
    refuseUnknownPartition(partition, appender.partitions);
    const found = environment.end(partition) ?? { end: 0, base: 0 };
    asLogError('the log cannot be read', () => lookAtSegments(partition, found));
    ends.set(partition, found);
    return found;
  };
  const basesOf = (partition: number, last: number): readonly number[] => {
    const known = bases.get(partition);
    if (known?.includes(last)) return known;
    const found = segmentBases(disk, partitionFolder(directory, partition)).filter((base) => base <= last);
    bases.set(partition, found);
    return found;
  };
  const folders = Array.from({ length: appender.partitions }, (_, partition) =>
    partitionFolder(directory, partition),
  );
  const rangeAt = (partition: number, from: number, { end, base }: PartitionEnd): SegmentRange =>
    segmentRangeAt(folders[partition] as string, basesOf(partition, base), from, end);
  /**
   * Records that lie before an end that was seen. Nobody looks whether others put other files in the place of these: whoever knows
   * where records begin compares what is read with what was recorded, and looking takes longer than reading.
   */
  const readSeen = (
    partition: number,
    from: number,
    { maxBytes = MOST_BYTES, known }: ReadHow,
  ): readonly LogRecord[] | undefined => {
    const seen = known && ends.get(partition);
    if (known === undefined || closed || seen === undefined || !(from >= 0 && from < seen.end))
      return undefined;
    return asLogError('the log cannot be read', () =>
      readKnown(files, rangeAt(partition, from, seen), from, maxBytes, known),
    );
  };
  const waiters = openWaiters(
    // Processes do not wake each other.
    (look) => every(pollEvery, look),
    // Where the lock was replaced, and when the log is closed, all who wait read on, and find out.
    (partition) => (closed || environment.isReplaced() ? Infinity : endOf(partition).end),
  );
  appender.appended.add(waiters.look);
  return {
    partitions: appender.partitions,
    keepsItsEnd: true,
    append: appender.append,
    checkWritable: appender.checkWritable,
    read: async (partition, from, how = {}) => {
      const seen = readSeen(partition, from, how);
      if (seen !== undefined) return { records: seen, next: (seen.at(-1) as LogRecord).next };
      await current();
      const found = endOf(partition);
      const rangeFrom = (at: number): SegmentRange => rangeAt(partition, at, found);
      return readRecords(files, { partition, end: found.end, rangeAt: rangeFrom }, from, how);
    },
    end: async (partition) => {
      await current();
      return endOf(partition).end;
    },
    start: async (partition) => (endOf(partition), 0),
    epoch: (partition) => {
      if (!closed) endOf(partition);
      return epoch;
    },
    wait: waiters.wait,
    close: async () => {
      if (closed) return;
      closed = true;
      waiters.wakeAll();
      await environment.close();
      await appender.close();
      files.close();
    },
  };
};
