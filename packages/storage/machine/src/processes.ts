import { readFileSync } from 'node:fs';

/**
 * True while a process lives, of whatever user. One that has ended does not, though nobody has asked yet how it did (a zombie).
 *
 * @param began what {@link beganAt} gave for it: without it, another process that has got the same id counts.
 */
export const isAlive = (pid: number, began?: string): boolean => {
  const stat = statOf(pid);
  if (stat !== undefined)
    return stat[STATE] !== 'Z' && stat[STATE] !== 'X' && (began === undefined || began === stat[BEGAN]);
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
export const beganAt = (pid: number): string | undefined => statOf(pid)?.[BEGAN];

/** The 3rd and the 22nd field of /proc/PID/stat, counted from the 3rd: the first two are the id and the name. */
const STATE = 0;
const BEGAN = 19;

const statOf = (pid: number): readonly string[] | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
};
