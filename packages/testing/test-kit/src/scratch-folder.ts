import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** statfs(2) */
const TMPFS = 0x01021994;

/**
 * A folder for files that are synced or removed by the hundred: in memory, where that costs nothing, if there is some.
 *
 * @param least the bytes that have to be free there
 */
export const scratchFolder = (least = 0): string => {
  try {
    const { type, bavail, bsize } = statfsSync('/dev/shm');
    if (type === TMPFS && bavail * bsize >= least) return '/dev/shm';
  } catch {
    // There is none.
  }
  return tmpdir();
};
