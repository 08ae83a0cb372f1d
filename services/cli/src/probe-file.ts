import { openRegularFile } from '@stemma/machine';
import { closeSync, readSync, statSync, type Stats } from 'node:fs';

/** What is at a path; undefined: nothing, or a part of the path is no folder. */
export const statOf = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** True if a file begins with these bytes. @throws the system's error */
export const beginsWith = (path: string, bytes: ArrayLike<number>): boolean => {
  const head = Buffer.alloc(bytes.length);
  const fd = openRegularFile(path);
  try {
    return readSync(fd, head, 0, head.length, 0) === head.length && head.equals(Buffer.from(bytes));
  } finally {
    closeSync(fd);
  }
};
