import { fail } from '@stemma/errors';
import { openPartitions, type EventLog, type RawLog } from '@stemma/log';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { refuseUnknownPartition } from './appender.ts';
import { asLogError } from './as-log-error.ts';
import { lookForEnd } from './find-end.ts';
import { notedEnds, type PartitionEnd } from './lock-environment.ts';
import { readRecords } from './read-records.ts';
import { segmentRangeAt, type SegmentRange } from './read-segments.ts';
import { refuseGone } from './refuse-gone.ts';
import { openFiles, partitionFolder, partitionsIn, segmentBases, segmentPath } from './segments.ts';
import { thisMachine } from './this-machine.ts';
import { openWaiters } from './waiters.ts';
import { watchSegments } from './watch-segments.ts';

/** A file of a partition when its end was last looked for. */
type Looked = PartitionEnd & { readonly file: string };

/** How often to look for records of others, in milliseconds. */
const POLL = 250;

/**
 * The log in a directory that this process may not write to: on a read-only medium, or another user's. It takes no lock, so an
 * end is what the segments show: whole records, and whatever lies before an end that a writer has noted.
 *
 * @param scratch a folder for what is copied while it is opened
 * @throws E_LOG_GONE, E_LOG_MISMATCH, E_IO
 */
export const openReadOnlyLog = async (given: string, scratch: string): Promise<EventLog> => {
  const directory = resolve(given);
  const { disk } = thisMachine;
  const noted = await notedEnds(directory, scratch);
  const partitions = asLogError('the log cannot be read', () => {
    refuseGone(disk, directory, { end: noted });
    return partitionsIn(disk, directory);
  });
  const raw = openRaw(directory, partitions, noted);
  try {
    const id = await openPartitions(raw, 'none', 0n);
    return { ...raw, id };
  } catch (error) {
    await raw.close();
    throw error;
  }
};

const openRaw = (
  directory: string,
  partitions: number,
  noted: (partition: number) => PartitionEnd | undefined,
): RawLog => {
  const { disk, every } = thisMachine;
  const files = openFiles(disk);
  const looked = new Map<number, Looked>();
  let [closed, epoch] = [false, 0];
  const lookAtSegments = watchSegments(disk, directory, () => {
    epoch++;
    files.close();
    looked.clear();
  });
  const refuse = (): never => {
    throw fail('E_IO', `the log in ${directory} can only be read`, { written: false });
  };

  const endOf = (partition: number): PartitionEnd => {
    if (closed) throw fail('E_LOG_CLOSED', 'the log was closed');
    refuseUnknownPartition(partition, partitions);
    return asLogError('the log cannot be read', () => {
      const folder = partitionFolder(directory, partition);
      const before = looked.get(partition);
      if (before !== undefined) lookAtSegments(partition, before);
      const file = looksOf(folder);
      const known = looked.get(partition);
      if (known?.file === file) return known;
      const end = lookForEnd(thisMachine, folder, known?.end ?? noted(partition)?.end ?? 0);
      lookAtSegments(partition, end);
      looked.set(partition, { ...end, file });
      return end;
    });
  };
  /** How the last segment looks to the system: it changes with every append, and with the next segment. */
  const looksOf = (folder: string): string => {
    const base = segmentBases(disk, folder).at(-1);
    if (base === undefined) return '';
    const stat = statSync(segmentPath(folder, base), { bigint: true, throwIfNoEntry: false });
    return `${base} ${stat?.ino} ${stat?.size} ${stat?.mtimeNs}`;
  };
  const waiters = openWaiters(
    (look) => every(POLL, look),
    (partition) => (closed ? Infinity : endOf(partition).end),
  );
  return {
    partitions,
    keepsItsEnd: true,
    append: async () => refuse(),
    checkWritable: async () => refuse(),
    read: async (partition, from, how = {}) => {
      const { end } = endOf(partition);
      const folder = partitionFolder(directory, partition);
      const rangeAt = (at: number): SegmentRange =>
        segmentRangeAt(folder, segmentBases(disk, folder), at, end);
      return readRecords(files, { partition, end, rangeAt }, from, how);
    },
    end: async (partition) => endOf(partition).end,
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
      files.close();
    },
  };
};
