import { closeSync, fdatasyncSync, fstatSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { fail, isStemmaError } from '@stemma/errors';
import { entryBytes, writeEntry } from './entry.ts';
import { bootId, openEnvironment, type End } from './environment.ts';
import { cut, findEnd } from './find-end.ts';
import { isAlive, openHolderFile, thisProcess } from './holder.ts';
import type { Asked, Failure, Group, Job, Told, WorkerOptions } from './messages.ts';
import { runsOf, startsOf } from './runs.ts';
import { partitionFolder, partitionsIn, segmentBases, segmentPath } from './segments.ts';

/*
 * The thread that appends for one process. It waits for the lock between processes and for the disk, so that the
 * process's own thread does neither; what is asked of it meanwhile comes as one group.
 */
const options = workerData as WorkerOptions;
const { directory } = options;
const environment = openEnvironment(directory);
const holder = openHolderFile(directory);
const self = thisProcess();
const BOOT = bootId();
const sleeper = new Int32Array(new SharedArrayBuffer(4));
/** The last segment of each partition, open for writing. */
const files = new Map<number, { base: number; file: number; size: number }>();
/** True after a group that failed: what it left behind the end must be looked at. */
let dirty = true;
let syncs = 0;

/** Waits until nobody seems to hold the lock, so that the wait in the system's own lock is short. @throws E_LOG_BUSY */
const waitForLock = (): void => {
  const until = performance.now() + options.busyAfter;
  for (let tries = 0; ; tries++) {
    const other = holder.read();
    if (!other || other.pid === self.pid || !isAlive(other)) return;
    if (performance.now() >= until)
      throw fail('E_LOG_BUSY', `process ${other.pid} holds the log for more than ${options.busyAfter} ms`, {
        pid: other.pid,
      });
    Atomics.wait(sleeper, 0, 0, tries < 50 ? 0.1 : 2);
  }
};

const locked = <T>(action: (put: (partition: number, end: End) => void, putBoot: () => void) => T): T => {
  refuseReplaced();
  waitForLock();
  return environment.locked((put, putBoot) => {
    // Whoever held it before and did not say that it was done, ended in the middle.
    if (holder.read()) dirty = true;
    holder.write(self);
    try {
      return action(put, putBoot);
    } finally {
      holder.write(null);
    }
  });
};

let lookedAtLock = -Infinity;

/** Two processes with two environments would not see each other's locks. Looked at every 20 ms at the most. */
const refuseReplaced = (): void => {
  const now = performance.now();
  if (now - lookedAtLock < 20) return;
  lookedAtLock = now;
  if (!environment.inPlace())
    throw fail('E_LOG_CLOSED', `the lock of ${directory} was taken away; open the log again`);
};

/** The machine was started again, or the environment is new: the segments say where they end. */
const rebuild = (put: (partition: number, end: End) => void, putBoot: () => void): void => {
  for (let partition = 0; partition < options.partitions; partition++) {
    put(partition, findEnd(partitionFolder(directory, partition), environment.end(partition)?.end ?? 0));
  }
  putBoot();
  dirty = false;
};

/** What could not be written is taken back at once, so that it is known not to be there. */
const appendOrTakeBack = (
  group: Group,
  put: (partition: number, end: End) => void,
): { offsets: Float64Array; nexts: Float64Array } => {
  try {
    return appendAll(group, put);
  } catch (error) {
    if (error instanceof SyncFailed) throw error;
    for (const partition of new Set(group.partitions)) takeBack(partition);
    const why = error instanceof Error ? error.message : String(error);
    throw fail('E_IO', `the log cannot be written: ${why}`, { written: false });
  }
};

const takeBack = (partition: number): void => {
  const { end, base } = environment.end(partition) ?? NOTHING;
  const folder = partitionFolder(directory, partition);
  for (const each of segmentBases(folder)) {
    if (each > base) cut(segmentPath(folder, each), 0);
    else if (each === base) cut(segmentPath(folder, each), end - base);
  }
};

const appendAll = (
  group: Group,
  put: (partition: number, end: End) => void,
): { offsets: Float64Array; nexts: Float64Array } => {
  const ends = dirty ? lookedAt() : new Map<number, End>();
  const offsets = new Float64Array(group.keys.length);
  const nexts = new Float64Array(group.keys.length);
  const starts = startsOf(group.lengths);
  for (const partition of new Set(group.partitions)) {
    let end = ends.get(partition) ?? environment.end(partition) ?? NOTHING;
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

const NOTHING: End = { end: 0, base: 0 };

/** Somebody ended in the middle of an append: what is complete behind the end stays, the rest is cut. */
const lookedAt = (): Map<number, End> =>
  new Map(
    Array.from({ length: options.partitions }, (_, partition) => [
      partition,
      findEnd(partitionFolder(directory, partition), environment.end(partition)?.end ?? 0),
    ]),
  );

/** Writes entries one behind the other, in a new segment if the last one is full; gives the new end. */
const write = (
  partition: number,
  { end, base }: End,
  run: readonly number[],
  { keys, lengths, bytes: records }: Group,
  starts: readonly number[],
  offsets: Float64Array,
  nexts: Float64Array,
): End => {
  const names = run.map((i) => Buffer.from(keys[i] ?? ''));
  const total = run.reduce((sum, i, n) => sum + entryBytes(names[n]?.length ?? 0, lengths[i] ?? 0), 0);
  const rolled = end > base && end - base + total > options.segmentBytes;
  const start = rolled ? end : base;
  if (rolled) cut(segmentPath(partitionFolder(directory, partition), base), end - base);
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
  const open = segment(partition, start);
  preallocate(open, end - start + total);
  writeAll(open.file, buffer, end - start);
  return { end: end + total, base: start };
};

const segment = (partition: number, base: number): { base: number; file: number; size: number } => {
  const known = files.get(partition);
  if (known?.base === base) return known;
  if (known) closeSync(known.file);
  files.delete(partition);
  const folder = partitionFolder(directory, partition);
  // Read and write, made if it is not there.
  const file = openSync(segmentPath(folder, base), 0o102);
  syncFolder(folder);
  const opened = { base, file, size: 0 };
  files.set(partition, opened);
  return opened;
};

/** Writes zeros ahead in steps, so that syncing a record changes no length of a file. */
const preallocate = (open: { file: number; size: number }, needed: number): void => {
  // Another process may have cut it when it closed.
  open.size = fstatSync(open.file).size;
  if (needed <= open.size) return;
  const size = Math.min(
    Math.ceil((needed + 1) / options.stepBytes) * options.stepBytes,
    Math.max(options.segmentBytes, needed),
  );
  writeAll(open.file, Buffer.alloc(size - open.size), open.size);
  open.size = size;
};

const writeAll = (file: number, bytes: Buffer, at: number): void => {
  for (let done = 0; done < bytes.length;)
    done += writeSync(file, bytes, done, bytes.length - done, at + done);
};

/** The kernel may have dropped what it could not write: nobody may go on as if it were there (record §6). */
class SyncFailed extends Error {}

const sync = (partition: number): void => {
  try {
    if (++syncs === options.failAtSync) throw new Error('EIO: failure asked for by a test');
    fdatasyncSync(files.get(partition)?.file ?? -1);
  } catch (error) {
    throw new SyncFailed(`the disk did not take what was written: ${String(error)}`);
  }
};

const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
};

/** Makes the folders of a new log, 0 last; gives how many there are. */
const create = (partitions: number): number => {
  const there = partitionsIn(directory);
  if (there > 0) return there;
  for (let partition = partitions - 1; partition >= 0; partition--) {
    mkdirSync(partitionFolder(directory, partition), { recursive: true });
  }
  syncFolder(directory);
  return partitions;
};

const close = (): void => {
  try {
    // The zeros written ahead go; whoever appends next writes others.
    locked(() => {
      for (const [partition, { base }] of files) {
        const { end, base: last } = environment.end(partition) ?? { end: 0, base: 0 };
        if (base === last) cut(segmentPath(partitionFolder(directory, partition), base), end - base);
      }
    });
  } catch {
    // Another process holds the lock: the zeros stay until somebody closes.
  }
  for (const { file } of files.values()) closeSync(file);
  files.clear();
  holder.close();
};

const work = (job: Job): Told => {
  switch (job.kind) {
    case 'open': {
      options.partitions = create(options.partitions);
      locked((put, putBoot) => {
        if (environment.boot() !== BOOT) rebuild(put, putBoot);
      });
      return { kind: 'opened', partitions: options.partitions };
    }
    case 'append':
      return { kind: 'appended', ...locked((put) => appendOrTakeBack(job.group, put)) };
    case 'close':
      close();
      return { kind: 'closed' };
  }
};

const told = (job: Job): Told => {
  try {
    return work(job);
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
port.on('message', ({ id, job }: Asked) => {
  const answer = told(job);
  const moved = answer.kind === 'appended' ? [answer.offsets.buffer, answer.nexts.buffer] : [];
  const reply = (): void => port.postMessage({ id, told: answer }, moved as ArrayBuffer[]);
  if (job.kind !== 'close') reply();
  // Who has the answer ends this thread, and a thread that is ended while LMDB closes takes the process with it.
  else void environment.close().then(reply);
});
