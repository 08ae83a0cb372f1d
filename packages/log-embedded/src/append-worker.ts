import { fail, isStemmaError } from '@stemma/errors';
import type { Entered } from '@stemma/lmdb-gate';
import { bootId } from '@stemma/machine';
import { mkdirSync, rmSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { entryBytes, writeEntry } from './entry.ts';
import { findEnd, truncateFile } from './find-end.ts';
import { openHolderFile, thisProcess, waitForHolder } from './holder.ts';
import type {
  AppendGroup,
  Failure,
  Job,
  JobAnswer,
  JobRequest,
  JobResponse,
  WorkerOptions,
} from './job-messages.ts';
import { openLastSegments, syncFolder } from './last-segments.ts';
import { enterLock, type LockEnvironment, type PartitionEnd } from './lock-environment.ts';
import { refuseGone } from './refuse-gone.ts';
import { runsOf, startsOf } from './runs.ts';
import { partitionFolder, partitionsIn, segmentBases, segmentPath } from './segments.ts';

/*
 * The thread that appends for one process. It waits for the lock between processes and for the disk, so that the
 * process's own thread does neither; what is asked of it meanwhile comes as one group.
 */
const options = workerData as WorkerOptions;
const { directory } = options;
let entered: Entered<LockEnvironment> | undefined;
/** Locks that were replaced: the process's own thread may still read them. */
const retired: Entered<LockEnvironment>[] = [];
/** What was wrong with locks that were put aside. */
const replaced: string[] = [];
const holder = openHolderFile(directory);
const self = thisProcess();
const BOOT = bootId();
const waitForLock = (): void => waitForHolder(holder, self, options.busyAfter);
const segments = openLastSegments(options);
/** True when bytes may follow the end: after a group that failed, or whose process was killed. */
let dirty = true;
let syncs = 0;

type LockedAction<T> = (
  put: (partition: number, end: PartitionEnd) => void,
  putBoot: () => void,
  environment: LockEnvironment,
) => T;

const withLock = <T>(action: LockedAction<T>): T => {
  waitForLock();
  const lock = currentLock();
  const { gate, opened: environment } = lock;
  const done = gate.pass((): { readonly result: T } | undefined => {
    // A holder that did not record its end was killed in the middle.
    if (holder.read()) dirty = true;
    holder.write(self);
    try {
      if (lock.isReplaced()) return undefined;
      refuseRemoved(environment);
      return { result: environment.locked((put, putBoot) => action(put, putBoot, environment)) };
    } finally {
      holder.write(null);
    }
  });
  return done === undefined ? withLock(action) : done.result;
};

/** The lock that this process holds open; the one that another process put in its place, if it found it damaged. */
const currentLock = (): Entered<LockEnvironment> => {
  if (entered !== undefined && !entered.isReplaced()) return entered;
  if (entered !== undefined) retired.push(entered);
  entered = enterLock(directory, (damage) => replaced.push(damage));
  dirty = true;
  // Others may still be in the middle, behind the lock before this one: the holder's file is all that keeps them apart.
  waitForLock();
  return entered;
};

/** Two processes with two environments could overwrite each other's records. */
const refuseRemoved = (environment: LockEnvironment): void => {
  if (!environment.isCurrent())
    throw fail('E_LOG_CLOSED', `the lock of ${directory} was removed: open the log again`);
};

/** The machine was restarted, or the environment is new: the segments show where they end. */
const rebuild: LockedAction<void> = (put, putBoot, environment) => {
  for (let partition = 0; partition < options.partitions; partition++) {
    put(partition, findEnd(partitionFolder(directory, partition), environment.end(partition)?.end ?? 0));
  }
  putBoot();
  dirty = false;
};

/** Removes a failed write at once, so that it is certain that nothing of it remains. */
const appendOrRollBack = (
  group: AppendGroup,
  put: (partition: number, end: PartitionEnd) => void,
  environment: LockEnvironment,
): { offsets: Float64Array; nexts: Float64Array } => {
  const before = currentEnds(group, environment);
  try {
    return appendAll(group, put, before);
  } catch (error) {
    if (error instanceof SyncFailed) throw error;
    for (const partition of new Set(group.partitions))
      truncateTo(partition, before.get(partition) ?? NOTHING);
    const why = error instanceof Error ? error.message : String(error);
    throw fail('E_IO', `the log cannot be written: ${why}`, { written: false });
  }
};

/**
 * The ends of the group's partitions; all ends, found again in the segments, if a process may have been killed in an
 * append.
 */
const currentEnds = (group: AppendGroup, environment: LockEnvironment): ReadonlyMap<number, PartitionEnd> => {
  const recordedEnd = (partition: number): PartitionEnd => environment.end(partition) ?? NOTHING;
  const partitions = [...new Set(group.partitions)];
  for (const partition of partitions) segments.refuseReplaced(partition);
  dirty ||= partitions.some((partition) => segments.hasDataAt(partition, recordedEnd(partition)));
  if (!dirty) return new Map(partitions.map((partition) => [partition, recordedEnd(partition)]));
  return new Map(
    Array.from({ length: options.partitions }, (_, partition) => [
      partition,
      findEnd(partitionFolder(directory, partition), recordedEnd(partition).end),
    ]),
  );
};

const truncateTo = (partition: number, { end, base }: PartitionEnd): void => {
  const folder = partitionFolder(directory, partition);
  segments.forget(partition);
  for (const each of segmentBases(folder)) {
    if (each > base) rmSync(segmentPath(folder, each));
    else if (each === base) truncateFile(segmentPath(folder, each), end - base);
  }
};

const appendAll = (
  group: AppendGroup,
  put: (partition: number, end: PartitionEnd) => void,
  before: ReadonlyMap<number, PartitionEnd>,
): { offsets: Float64Array; nexts: Float64Array } => {
  const ends = new Map(before);
  const offsets = new Float64Array(group.keys.length);
  const nexts = new Float64Array(group.keys.length);
  const starts = startsOf(group.lengths);
  for (const partition of new Set(group.partitions)) {
    let end = ends.get(partition) ?? NOTHING;
    const entries = [...group.keys.keys()].filter((i) => group.partitions[i] === partition);
    for (const run of runsOf(entries, group)) {
      end = write(partition, end, run, group, starts, offsets, nexts);
    }
    ends.set(partition, end);
    sync(partition);
  }
  for (const [partition, end] of ends) put(partition, end);
  dirty = false;
  return { offsets, nexts };
};

const NOTHING: PartitionEnd = { end: 0, base: 0 };

/** Writes entries one after the other, in a new segment if the last one is full; returns the new end. */
const write = (
  partition: number,
  { end, base }: PartitionEnd,
  run: readonly number[],
  { keys, lengths, bytes: records }: AppendGroup,
  starts: readonly number[],
  offsets: Float64Array,
  nexts: Float64Array,
): PartitionEnd => {
  const names = run.map((i) => Buffer.from(keys[i] ?? ''));
  const total = run.reduce((sum, i, n) => sum + entryBytes(names[n]?.length ?? 0, lengths[i] ?? 0), 0);
  const rolled = end > base && end - base + total > options.segmentBytes;
  const start = rolled ? end : base;
  if (rolled) truncateFile(segmentPath(partitionFolder(directory, partition), base), end - base);
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
class SyncFailed extends Error {}

const sync = (partition: number): void => {
  try {
    if (++syncs === options.failAtSync) throw new Error('EIO: failure asked for by a test');
    segments.sync(partition);
  } catch (error) {
    throw new SyncFailed(`the disk did not take what was written: ${String(error)}`);
  }
};

/** Makes the folders of a new log, 0 last; returns their number. */
const create = (partitions: number): number => {
  const there = partitionsIn(directory);
  if (there > 0) return there;
  for (let partition = partitions - 1; partition >= 0; partition--) {
    mkdirSync(partitionFolder(directory, partition), { recursive: true, mode: 0o700 });
  }
  syncFolder(directory);
  return partitions;
};

const close = (): void => {
  try {
    // The preallocated zeros are removed; the next writer makes its own.
    withLock((_put, _putBoot, environment) => {
      for (const [partition, base] of segments.bases()) {
        const { end, base: last } = environment.end(partition) ?? NOTHING;
        if (base === last && !segments.hasDataAt(partition, { end, base }))
          truncateFile(segmentPath(partitionFolder(directory, partition), base), end - base);
      }
    });
  } catch {
    // Another process holds the lock: the zeros stay until somebody closes.
  }
  segments.close();
  holder.close();
};

const performJob = (job: Job): JobAnswer => {
  switch (job.kind) {
    case 'open': {
      refuseGone(directory);
      options.partitions = create(options.partitions);
      withLock((put, putBoot, environment) => {
        refuseGone(directory, environment);
        if (environment.boot() !== BOOT) rebuild(put, putBoot, environment);
      });
      return {
        kind: 'opened',
        partitions: options.partitions,
        lock: entered?.folder ?? '',
        replaced: replaced.splice(0),
      };
    }
    case 'append':
      return {
        kind: 'appended',
        ...withLock((put, _putBoot, environment) => appendOrRollBack(job.group, put, environment)),
      };
    case 'close':
      close();
      return { kind: 'closed' };
  }
};

const answerJob = (job: Job): JobAnswer => {
  try {
    return performJob(job);
  } catch (error) {
    if (error instanceof SyncFailed) return { kind: 'fatal', message: error.message };
    dirty = true;
    return { kind: 'failed', failure: failureOf(error) };
  }
};

const failureOf = (error: unknown): Failure => {
  const message = error instanceof Error ? error.message : String(error);
  if (isStemmaError(error)) return { code: error.code, message, detail: error.detail };
  return { code: 'E_IO', message: `the log cannot be written: ${message}`, detail: {} };
};

const port = parentPort;
if (!port) throw new Error('this runs in a thread');
port.on('message', ({ id, job }: JobRequest) => {
  const answer = answerJob(job);
  const moved = answer.kind === 'appended' ? [answer.offsets.buffer, answer.nexts.buffer] : [];
  const reply = (): void => port.postMessage({ id, answer } satisfies JobResponse, moved as ArrayBuffer[]);
  if (job.kind !== 'close') reply();
  // The process ends this thread when it has the answer; ending a thread while LMDB closes kills the process.
  else void closeLock().then(reply);
});

const closeLock = async (): Promise<void> => {
  for (const each of [...retired, ...(entered === undefined ? [] : [entered])]) {
    await each.opened.close();
    await each.leave();
  }
};
