import { copyMark } from '@stemma/lmdb-gate';
import { fail, isStemmaError, toWireError, type WireError } from '@stemma/errors';
import { dirname } from 'node:path';
import {
  appendOrRollBack,
  findEndOf,
  NOTHING,
  SyncFailed,
  type Appending,
  type PutEnd,
} from './append-group.ts';
import { makeFolders, syncFolder } from './disk.ts';
import { truncateFile } from './find-end.ts';
import { openHolderFile, type HolderFile, waitForHolder } from './holder.ts';
import type { Job, JobAnswer, WorkerOptions } from './job-messages.ts';
import { openLastSegments } from './last-segments.ts';
import type { LockEnvironment } from './lock-environment.ts';
import type { EnteredLock, JobMachine } from './log-machine.ts';
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

type LockedAction<T> = (put: PutEnd, putBoot: () => void, environment: LockEnvironment) => T;

/** Opens the log's directory for appending; the lock is entered with the first job. */
export const openAppendJobs = (machine: JobMachine, options: WorkerOptions): AppendJobs => {
  const { directory } = options;
  const { disk } = machine;
  let entered: EnteredLock | undefined;
  /** Locks that were replaced: the process's own thread may still read them. */
  const retired: EnteredLock[] = [];
  /** What was made anew, in sentences. */
  const repaired: string[] = [];
  let holder: HolderFile | undefined;
  /** Opened with the first job, whose answer says why it cannot be. */
  const holderFile = (): HolderFile => (holder ??= openHolderFile(disk, directory));
  const self = machine.self();
  const boot = machine.boot();
  const segments = openLastSegments(disk, options);
  const appending: Appending = { machine, options, segments, dirty: true, syncs: 0 };
  const waitForLock = (): void => waitForHolder(machine, holderFile(), self, options.busyAfter);

  const withLock = <T>(action: LockedAction<T>): T => {
    waitForLock();
    const lock = currentLock();
    const { gate, opened: environment } = lock;
    const done = gate.pass((): { readonly result: T } | undefined => {
      // A holder that did not record its end was killed in the middle.
      if (holderFile().read()) appending.dirty = true;
      holderFile().write(self);
      try {
        if (lock.isReplaced()) return undefined;
        refuseRemoved(directory, environment);
        return { result: environment.locked((put, putBoot) => action(put, putBoot, environment)) };
      } finally {
        holderFile().write(null);
      }
    });
    return done === undefined ? withLock(action) : done.result;
  };

  /** The lock that this process holds open; the one that another process put in its place, if it found it damaged. */
  const currentLock = (): EnteredLock => {
    if (entered !== undefined && !entered.isReplaced()) return entered;
    if (entered !== undefined) retired.push(entered);
    entered = machine.enterLock(directory, (damage) =>
      repaired.push(
        `the lock of the log was damaged (${damage}); the log's end was found again in its segments`,
      ),
    );
    appending.dirty = true;
    // Others may still be in the middle, behind the lock before this one: the holder's file is all that keeps them apart.
    waitForLock();
    return entered;
  };

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
    const mark = copyMark(entered?.folder ?? '');
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

  /** Makes the folders of a new log, 0 last; returns their number. */
  const create = (partitions: number): number => {
    const there = partitionsIn(disk, directory);
    if (there > 0) return there;
    for (let partition = partitions - 1; partition >= 0; partition--)
      makeFolders(disk, partitionFolder(directory, partition));
    return partitions;
  };

  const close = (): void => {
    try {
      // The preallocated zeros are removed; the next writer makes its own.
      withLock((_put, _putBoot, environment) => {
        for (const [partition, base] of segments.bases()) {
          const { end, base: last } = environment.end(partition) ?? NOTHING;
          if (base === last && !segments.hasDataAt(partition, { end, base }))
            truncateFile(disk, segmentPath(partitionFolder(directory, partition), base), end - base);
        }
      });
    } catch {
      // Another process holds the lock: the zeros stay until somebody closes.
    }
    segments.close();
    holder?.close();
  };

  const perform = (job: Job): JobAnswer => {
    switch (job.kind) {
      case 'open': {
        refuseGone(disk, directory);
        options.partitions = create(options.partitions);
        withLock((put, putBoot, environment) => {
          refuseGone(disk, directory, environment);
          if (environment.boot() !== boot) rebuild(put, putBoot, environment);
        });
        return {
          kind: 'opened',
          partitions: options.partitions,
          lock: entered?.folder ?? '',
          repaired: repaired.splice(0),
        };
      }
      case 'append': {
        const started = machine.now();
        const placed = withLock((put, _putBoot, environment) =>
          appendOrRollBack(appending, job.group, put, environment),
        );
        return { kind: 'appended', ...placed, took: machine.now() - started };
      }
      case 'try':
        withLock((_put, _putBoot, environment) => {
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
    closeLock: async () => {
      for (const each of [...retired, ...(entered === undefined ? [] : [entered])]) {
        await each.opened.close();
        await each.leave();
      }
    },
  };
};

/** Two processes with two environments could overwrite each other's records. */
const refuseRemoved = (directory: string, environment: LockEnvironment): void => {
  if (!environment.isCurrent())
    throw fail('E_LOG_CLOSED', `the lock of ${directory} was removed: open the log again`);
};

const failureOf = (error: unknown): WireError => {
  const sent = toWireError(error);
  if (isStemmaError(error)) return sent;
  return { ...sent, code: 'E_IO', message: `the log cannot be written: ${sent.message}` };
};
