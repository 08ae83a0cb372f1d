import { fail } from '@stemma/errors';
import { beganAt, isAlive as isProcessAlive } from '@stemma/machine';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import type { Holder, JobMachine } from './log-machine.ts';

export type HolderFile = {
  readonly read: () => Holder | null;
  readonly write: (holder: Holder | null) => void;
  readonly close: () => void;
};

const LENGTH = 48;
/** Instead of when a process began, where the system does not tell. */
const UNKNOWN = '-';

export const openHolderFile = (disk: Disk, directory: string): HolderFile => {
  const file = disk.open(join(directory, 'holder'), 'make');
  const buffer = Buffer.alloc(LENGTH);
  const place = String(disk.status(file).ino);
  return {
    read: () => {
      const length = disk.read(file, buffer, 0, LENGTH, 0);
      // A copy of the file names whoever holds the lock of the original. Versions before this one name no file.
      const [pid = '', began = '', there = place] = buffer.toString('latin1', 0, length).trim().split(' ');
      return there === place && /^[1-9]\d*$/.test(pid) ? { pid: Number(pid), began } : null;
    },
    write: (holder) => {
      const text = holder ? `${holder.pid} ${holder.began} ${place}` : '0';
      disk.write(file, Buffer.from(text.padEnd(LENGTH), 'latin1'), 0, LENGTH, 0);
    },
    close: () => {
      disk.close(file);
    },
  };
};

export const thisProcess = (): Holder => ({ pid: process.pid, began: beganAt(process.pid) ?? UNKNOWN });

/** True while the process that wrote itself down as the holder lives. */
export const isHolderAlive = ({ pid, began }: Holder): boolean =>
  isProcessAlive(pid, began === UNKNOWN ? undefined : began);

/**
 * Waits until nobody else seems to hold the lock, so that the wait in the system's own lock is short.
 *
 * @param busyAfter in milliseconds. @throws E_LOG_BUSY
 */
export const waitForHolder = (
  { now, pause, isAlive }: Pick<JobMachine, 'now' | 'pause' | 'isAlive'>,
  file: HolderFile,
  self: Holder,
  busyAfter: number,
): void => {
  const until = now() + busyAfter;
  for (let tries = 0; ; tries++) {
    const other = file.read();
    if (!other || other.pid === self.pid || !isAlive(other)) return;
    if (now() >= until)
      throw fail('E_LOG_BUSY', `process ${other.pid} has held the log for more than ${busyAfter} ms`, {
        pid: other.pid,
      });
    pause(tries < 50 ? 0.1 : 2);
  }
};
