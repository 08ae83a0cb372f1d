import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A run fills about one; those that try a full disk have file systems of their own. */
const ENOUGH_GIB = 6;

/**
 * Where tests keep their files: in memory if there is plenty, since they begin some thousand logs and each waits for a
 * disk again and again. What a disk does when power fails is tried on simulated ones (decision 0061).
 */
export const scratchFolder = (): string => {
  try {
    const { type, bavail, bsize } = statfsSync('/dev/shm');
    const TMPFS = 0x01021994; // statfs(2)
    if (type === TMPFS && bavail * bsize >= ENOUGH_GIB * 2 ** 30) return '/dev/shm';
  } catch {
    // There is none.
  }
  return process.env['TMPDIR'] ?? tmpdir();
};
