import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A file of a home may be anything: what is read of it is a regular file, and no more than this. */
const MOST = 64 * 1024 * 1024;

/**
 * What is read of a home: the bytes of a regular file. Something else in its place (a pipe nobody writes to, a folder, a device
 * that never ends) is refused at once, by name.
 *
 * @param most bytes of the largest file that is read
 * @throws the system's error, ENOENT among them; an Error with the code EINVAL or EFBIG, for what is no regular file of that size
 */
export const readRegularFile = (path: string, most = MOST): Buffer => {
  // Without waiting: a pipe would wait for a writer. Windows has no such flag.
  const file = openSync(path, constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0));
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw refusal(path, 'EINVAL', 'is no file');
    if (stat.size > most) throw refusal(path, 'EFBIG', `has ${stat.size} bytes, more than ${most}`);
    const bytes = Buffer.alloc(stat.size);
    let got = 0;
    while (got < bytes.length) {
      const more = readSync(file, bytes, got, bytes.length - got, got);
      if (more === 0) break;
      got += more;
    }
    return bytes.subarray(0, got);
  } finally {
    closeSync(file);
  }
};

const refusal = (path: string, code: string, what: string): Error =>
  Object.assign(new Error(`${code}: ${path} ${what}`), { code });
