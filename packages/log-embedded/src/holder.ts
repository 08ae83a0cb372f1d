import { fail } from '@stemma/errors';
import { beganAt, isAlive } from '@stemma/machine';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The holder of the lock, for waiting processes: a process id, and when that process began, if the system shows it (ids
 * are reused). Only information; the environment has the actual lock.
 */
export type Holder = { readonly pid: number; readonly began: string };

export type HolderFile = {
  readonly read: () => Holder | null;
  readonly write: (holder: Holder | null) => void;
  readonly close: () => void;
};

const LENGTH = 48;
/** Instead of when a process began, where the system does not tell. */
const UNKNOWN = '-';

export const openHolderFile = (directory: string): HolderFile => {
  const file = openSync(join(directory, 'holder'), openFlags, 0o600);
  const buffer = Buffer.alloc(LENGTH);
  return {
    read: () => {
      const length = readSync(file, buffer, 0, LENGTH, 0);
      const [pid = '', began = ''] = buffer.toString('latin1', 0, length).trim().split(' ');
      return /^[1-9]\d*$/.test(pid) ? { pid: Number(pid), began } : null;
    },
    write: (holder) => {
      const text = holder ? `${holder.pid} ${holder.began}` : '0';
      writeSync(file, text.padEnd(LENGTH), 0, 'latin1');
    },
    close: () => {
      closeSync(file);
    },
  };
};

// Read and write, made if it is not there, never emptied.
const openFlags = 0o102;

export const thisProcess = (): Holder => ({ pid: process.pid, began: beganAt(process.pid) ?? UNKNOWN });

/** True while the process that wrote itself down as the holder lives. */
const isHolderAlive = ({ pid, began }: Holder): boolean =>
  isAlive(pid, began === UNKNOWN ? undefined : began);

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits until nobody else seems to hold the lock, so that the wait in the system's own lock is short.
 *
 * @param busyAfter in milliseconds. @throws E_LOG_BUSY
 */
export const waitForHolder = (file: HolderFile, self: Holder, busyAfter: number): void => {
  const until = performance.now() + busyAfter;
  for (let tries = 0; ; tries++) {
    const other = file.read();
    if (!other || other.pid === self.pid || !isHolderAlive(other)) return;
    if (performance.now() >= until)
      throw fail('E_LOG_BUSY', `process ${other.pid} has held the log for more than ${busyAfter} ms`, {
        pid: other.pid,
      });
    Atomics.wait(sleeper, 0, 0, tries < 50 ? 0.1 : 2);
  }
};
