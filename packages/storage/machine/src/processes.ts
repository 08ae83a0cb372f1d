import { readFileSync } from 'node:fs';

/**
 * True while a process lives, of whatever user.
 *
 * @param began what {@link beganAt} gave for it: without it, another process that has got the same id counts.
 */
export const isAlive = (pid: number, began?: string): boolean => {
  const now = beganAt(pid);
  if (now !== undefined) return began === undefined || began === now;
  if (began !== undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/**
 * When a process began, in the system's own ticks since the boot: the 22nd field of /proc/PID/stat. Undefined without
 * such a process, or on a system without that file.
 */
export const beganAt = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
};
