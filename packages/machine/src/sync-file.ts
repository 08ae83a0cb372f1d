import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Returns when the disk holds all that was written to a file so far, by whichever process. */
export const syncFile = (path: string): void => {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};
