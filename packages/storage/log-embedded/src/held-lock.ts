import { fail } from '@stemma/errors';
import { openHolderFile, type HolderFile, waitForHolder } from './holder.ts';
import type { PutEnd } from './append-group.ts';
import type { WorkerOptions } from './job-messages.ts';
import type { LockEnvironment } from './lock-environment.ts';
import type { EnteredLock, JobMachine } from './log-machine.ts';

export type LockedAction<T> = (put: PutEnd, putBoot: () => void, environment: LockEnvironment) => T;

export type HeldLockOptions = Pick<WorkerOptions, 'directory' | 'busyAfter'> & {
  readonly machine: JobMachine;
  /** Another process may have ended in the middle of writing: the segments show where they end. */
  readonly distrust: () => void;
  /** Told what was made anew, in a sentence. */
  readonly repaired: (sentence: string) => void;
};

/** The lock of a log's directory, entered with the first action; and entered anew when another process has replaced it. */
export type HeldLock = {
  /** Does something while no other process writes. @throws E_BUSY, E_LOG_CLOSED, and what `action` throws */
  during<T>(action: LockedAction<T>): T;
  /** The folder of the lock; empty before the first action. */
  folder(): string;
  /** Nothing is done any more. */
  closeHolder(): void;
  close(): Promise<void>;
};

export const openHeldLock = ({
  machine,
  directory,
  busyAfter,
  distrust,
  repaired,
}: HeldLockOptions): HeldLock => {
  let entered: EnteredLock | undefined;
  /** Locks that were replaced: the process's own thread may still read them. */
  const retired: EnteredLock[] = [];
  let holder: HolderFile | undefined;
  /** Opened with the first action, whose error says why it cannot be. */
  const holderFile = (): HolderFile => (holder ??= openHolderFile(machine.disk, directory));
  const self = machine.self();
  const waitForLock = (): void => waitForHolder(machine, holderFile(), self, busyAfter);

  const withLock = <T>(action: LockedAction<T>): T => {
    waitForLock();
    const lock = currentLock();
    const { gate, opened: environment } = lock;
    const done = gate.pass((): { readonly result: T } | undefined => {
      // A holder that did not record its end was killed in the middle.
      if (holderFile().read()) distrust();
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
      repaired(`the lock of the log was damaged (${damage}); the log's end was found again in its segments`),
    );
    distrust();
    // Others may still be in the middle, behind the lock before this one: the holder's file is all that keeps them apart.
    waitForLock();
    return entered;
  };

  return {
    during: withLock,
    folder: () => entered?.folder ?? '',
    closeHolder: () => holder?.close(),
    async close() {
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
