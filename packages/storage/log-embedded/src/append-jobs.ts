import { copyMark } from '@stemma/lmdb-gate';
import { isStemmaError, toWireError, type WireError } from '@stemma/errors';
import { dirname } from 'node:path';
import { appendOrRollBack, findEndOf, NOTHING, SyncFailed, type Appending } from './append-group.ts';
import { makeFolders, syncFolder } from './disk.ts';
import { truncateFile } from './find-end.ts';
import { openHeldLock, type LockedAction } from './held-lock.ts';
import type { Job, JobAnswer, WorkerOptions } from './job-messages.ts';
import { openLastSegments } from './last-segments.ts';
import type { JobMachine } from './log-machine.ts';
import { refuseGone } from './refuse-gone.ts';
import { partitionFolder, partitionsIn, segmentPath } from './segments.ts';
import { endBeforeGap } from './end-before-gap.ts';

/** What the appending thread of a process does, one job after the other. */
export type AppendJobs = {
  /** Never throws what a job throws: it is part of the answer. */
  readonly answer: (job: Job) => JobAnswer;
  /** After the answer to `close`. */
  readonly closeLock: () => Promise<void>;
};

/** Opens the log's directory for appending; the lock is entered with the first job. */
export const openAppendJobs = (machine: JobMachine, options: WorkerOptions): AppendJobs => {
  const { directory } = options;
  const { disk } = machine;
  /** What was made anew, in sentences. */
  const repaired: string[] = [];
  const boot = machine.boot();
  const segments = openLastSegments(disk, options);
  const appending: Appending = { machine, options, segments, dirty: true, syncs: 0 };
  const lock = openHeldLock({
    machine,
    directory,
    busyAfter: options.busyAfter,
    distrust: () => {
      appending.dirty = true;
    },
    repaired: (sentence) => repaired.push(sentence),
  });

  /** The machine was restarted, or the environment is new: the segments show where they end. */
  const rebuild: LockedAction<void> = (put, putBoot, environment) => {
    // Whoever made them may have been killed before their names were durable.
    syncFolder(disk, dirname(directory));
    syncFolder(disk, directory);
    recoverCopy();
    for (let partition = 0; partition < options.partitions; partition++)
      put(partition, findEndOf(appending, partition, environment.end(partition) ?? NOTHING));
    putBoot();
    appending.dirty = false;
  };

  /** Once, inside the lock: after it, the log ends as any does whose writer was killed. */
  const recoverCopy = (): void => {
    const mark = copyMark(lock.folder());
    if (!disk.exists(mark)) return;
    let aside = 0;
    for (let partition = 0; partition < options.partitions; partition++)
      aside += endBeforeGap(machine, partitionFolder(directory, partition));
    disk.remove(mark);
    const behind =
      aside === 0
        ? ''
        : `; what was behind a gap, or half written, is in ${aside} ${aside === 1 ? 'file' : 'files'} *.behind-gap`;
    repaired.push(
      `the log in ${directory} was copied while others wrote to it: its lock was made anew, and its end was found in its segments${behind}`,
    );
  };

  const close = (): void => {
    const written = segments.bases();
    try {
      // The preallocated zeros are removed; the next writer makes its own.
      if (written.size > 0)
        lock.during((_put, _putBoot, environment) => {
          for (const [partition, base] of written) {
            const { end, base: last } = environment.end(partition) ?? NOTHING;
            if (base === last && !segments.hasDataAt(partition, { end, base }))
              truncateFile(disk, segmentPath(partitionFolder(directory, partition), base), end - base);
          }
        });
    } catch {
      // Another process holds the lock: the zeros stay until somebody closes.
    }
    segments.close();
    lock.closeHolder();
  };

  const perform = (job: Job): JobAnswer => {
    switch (job.kind) {
      case 'open': {
        refuseGone(disk, directory);
        options.partitions = makePartitions(disk, directory, options.partitions);
        lock.during((put, putBoot, environment) => {
          refuseGone(disk, directory, environment);
          if (environment.boot() !== boot) rebuild(put, putBoot, environment);
        });
        return {
          kind: 'opened',
          partitions: options.partitions,
          lock: lock.folder(),
          repaired: repaired.splice(0),
        };
      }
      case 'append': {
        const started = machine.now();
        const placed = lock.during((put, _putBoot, environment) =>
          appendOrRollBack(appending, job.group, put, environment),
        );
        return { kind: 'appended', ...placed, took: machine.now() - started };
      }
      case 'try':
        lock.during((_put, _putBoot, environment) => {
          for (let partition = 0; partition < options.partitions; partition++)
            segments.makeRoom(partition, environment.end(partition) ?? NOTHING, job.bytes);
        });
        return { kind: 'possible' };
      case 'close':
        close();
        return { kind: 'closed' };
    }
  };

  return {
    answer: (job) => {
      try {
        return perform(job);
      } catch (error) {
        if (error instanceof SyncFailed) return { kind: 'fatal', message: error.message };
        appending.dirty = true;
        return { kind: 'failed', failure: failureOf(error) };
      }
    },
    closeLock: () => lock.close(),
  };
};

/** Makes the folders of a new log, 0 last; returns their number. */
const makePartitions = (disk: JobMachine['disk'], directory: string, partitions: number): number => {
  const there = partitionsIn(disk, directory);
  if (there > 0) return there;
  for (let partition = partitions - 1; partition >= 0; partition--)
    makeFolders(disk, partitionFolder(directory, partition));
  return partitions;
};

const failureOf = (error: unknown): WireError => {
  const sent = toWireError(error);
  if (isStemmaError(error)) return sent;
  return { ...sent, code: 'E_IO', message: `the log cannot be written: ${sent.message}` };
};
