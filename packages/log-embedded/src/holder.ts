import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
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

export const openHolderFile = (directory: string): HolderFile => {
  const file = openSync(join(directory, 'holder'), openFlags);
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

export const thisProcess = (): Holder => ({ pid: process.pid, began: beganAt(process.pid) ?? '-' });

/** True while the recorded holder's process lives. */
export const isAlive = ({ pid, began }: Holder): boolean => {
  const now = beganAt(pid);
  if (now !== undefined) return began === '-' || began === now;
  if (began !== '-') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/** The 22nd field of /proc/PID/stat: ticks since the machine began. Undefined without such a process, or such a system. */
const beganAt = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
};
