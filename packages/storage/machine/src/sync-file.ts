import { closeSync, fsyncSync } from 'node:fs';
import { openRegularFile } from './read-file.ts';

/** Returns when the disk holds all that was written to a file so far, by whichever process. */
export const syncFile = (path: string): void => {
  const file = openRegularFile(path, 'write');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};
