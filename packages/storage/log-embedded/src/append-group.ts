import { fail } from '@stemma/errors';
import { entryBytes, writeEntry } from './entry.ts';
import { findEnd, truncateFile } from './find-end.ts';
import type { AppendGroup, WorkerOptions } from './job-messages.ts';
import type { LastSegments } from './last-segments.ts';
import type { LockEnvironment, PartitionEnd } from './lock-environment.ts';
import type { JobMachine } from './log-machine.ts';
import { runsOf, startsOf } from './runs.ts';
import { partitionFolder, segmentBases, segmentPath } from './segments.ts';

/** What a process knows of the segments that it appends to. */
export type Appending = {
  readonly machine: JobMachine;
  readonly options: WorkerOptions;
  readonly segments: LastSegments;
  /** True when bytes may follow the end: after a group that failed, or whose process was killed. */
  dirty: boolean;
  syncs: number;
};

export type PutEnd = (partition: number, end: PartitionEnd) => void;

export type PlacedGroup = { readonly offsets: Float64Array; readonly nexts: Float64Array };

export const NOTHING: PartitionEnd = { end: 0, base: 0 };

/** Removes a failed write at once, so that it is certain that nothing of it remains. */
export const appendOrRollBack = (
  appending: Appending,
  group: AppendGroup,
  put: PutEnd,
  environment: LockEnvironment,
): PlacedGroup => {
  const before = currentEnds(appending, group, environment);
  try {
    return appendAll(appending, group, put, before);
  } catch (error) {
    if (error instanceof SyncFailed) throw error;
    for (const partition of new Set(group.partitions))
      truncateTo(appending, partition, before.get(partition) ?? NOTHING);
    const why = error instanceof Error ? error.message : String(error);
    throw fail('E_IO', `the log cannot be written: ${why}`, { written: false });
  }
};

/** The end of a partition, found in its segments. */
export const findEndOf = (
  { machine, options }: Appending,
  partition: number,
  { end }: PartitionEnd,
): PartitionEnd => findEnd(machine, partitionFolder(options.directory, partition), end);

/**
 * The ends of the group's partitions; all ends, found again in the segments, if a process may have been killed in an
 * append.
 */
const currentEnds = (
  appending: Appending,
  group: AppendGroup,
  environment: LockEnvironment,
): ReadonlyMap<number, PartitionEnd> => {
  const { options, segments } = appending;
  const recordedEnd = (partition: number): PartitionEnd => environment.end(partition) ?? NOTHING;
  const partitions = [...new Set(group.partitions)];
  for (const partition of partitions) segments.refuseReplaced(partition);
  appending.dirty ||= partitions.some((partition) => segments.hasDataAt(partition, recordedEnd(partition)));
  const found = appending.dirty ? [...Array(options.partitions).keys()] : partitions;
  return new Map(
    found.map((partition) => {
      const recorded = recordedEnd(partition);
      return [partition, appending.dirty ? findEndOf(appending, partition, recorded) : recorded];
    }),
  );
};

const truncateTo = (
  { machine: { disk }, options, segments }: Appending,
  partition: number,
  { end, base }: PartitionEnd,
): void => {
  const folder = partitionFolder(options.directory, partition);
  segments.forget(partition);
  for (const each of segmentBases(disk, folder)) {
    if (each > base) disk.remove(segmentPath(folder, each));
    else if (each === base) truncateFile(disk, segmentPath(folder, each), end - base);
  }
};

const appendAll = (
  appending: Appending,
  group: AppendGroup,
  put: PutEnd,
  before: ReadonlyMap<number, PartitionEnd>,
): PlacedGroup => {
  const ends = new Map(before);
  const placed = {
    offsets: new Float64Array(group.keys.length),
    nexts: new Float64Array(group.keys.length),
  };
  const starts = startsOf(group.lengths);
  for (const partition of new Set(group.partitions)) {
    let end = ends.get(partition) ?? NOTHING;
    const entries = [...group.keys.keys()].filter((i) => group.partitions[i] === partition);
    for (const run of runsOf(entries, group)) {
      end = write(appending, partition, end, run, group, starts, placed);
    }
    ends.set(partition, end);
    sync(appending, partition);
  }
  for (const [partition, end] of ends) put(partition, end);
  appending.dirty = false;
  return placed;
};

/** Writes entries one after the other, in a new segment if the last one is full; returns the new end. */
const write = (
  { machine: { disk }, options, segments }: Appending,
  partition: number,
  { end, base }: PartitionEnd,
  run: readonly number[],
  { keys, lengths, bytes: records }: AppendGroup,
  starts: readonly number[],
  { offsets, nexts }: PlacedGroup,
): PartitionEnd => {
  const names = run.map((i) => Buffer.from(keys[i] ?? ''));
  const total = run.reduce((sum, i, n) => sum + entryBytes(names[n]?.length ?? 0, lengths[i] ?? 0), 0);
  const rolled = end > base && end - base + total > options.segmentBytes;
  const start = rolled ? end : base;
  if (rolled)
    truncateFile(disk, segmentPath(partitionFolder(options.directory, partition), base), end - base);
  const buffer = Buffer.allocUnsafe(total);
  let at = 0;
  run.forEach((i, n) => {
    const from = starts[i] ?? 0;
    offsets[i] = end + at;
    at = writeEntry(
      buffer,
      at,
      end + at,
      names[n] ?? buffer,
      records.subarray(from, from + (lengths[i] ?? 0)),
    );
    nexts[i] = end + at;
  });
  segments.write(partition, start, end - start, buffer);
  return { end: end + total, base: start };
};

/** The kernel may have dropped the data it could not write: the process must not continue (record §6). */
export class SyncFailed extends Error {}

const sync = (appending: Appending, partition: number): void => {
  try {
    if (++appending.syncs === appending.options.failAtSync)
      throw new Error('EIO: failure asked for by a test');
    appending.segments.sync(partition);
  } catch (error) {
    throw new SyncFailed(`the disk did not take what was written: ${String(error)}`);
  }
};
