import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
  type Stats,
} from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/*
 * What a home has in the place of a file may be anything: a pipe that nobody writes to, a folder, a link to a device that never
 * ends, a link to a disk that is not there. So files of a home are opened here and nowhere else: without waiting, and only
 * regular ones.
 */

/** Bytes of the largest file that is read whole, unless its reader knows better. */
const MOST = 64 * 1024 * 1024;

/** A pipe would wait for its other end. Windows has no such flag. */
const NO_WAITING = (constants.O_NONBLOCK as number | undefined) ?? 0;

const FLAGS = {
  read: constants.O_RDONLY,
  /** To read and write one that is there. */
  write: constants.O_RDWR,
  /** To read and write; it is made if it is missing, and never emptied. */
  make: constants.O_RDWR | constants.O_CREAT,
  /** It must not be there. */
  new: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
  /** Whatever is written goes to its end. */
  append: constants.O_RDWR | constants.O_CREAT | constants.O_APPEND,
} as const;

/** What a file is opened for. */
type OpenHow = keyof typeof FLAGS;

/**
 * Opens a regular file. What is made is for its owner alone.
 *
 * @returns its descriptor, which the caller closes
 * @throws the system's error, ENOENT among them; an Error with the code EINVAL that names what is no regular file
 */
export const openRegularFile = (path: string, how: OpenHow = 'read'): number => {
  refuseIrregular(path);
  const file = openSync(path, FLAGS[how] | NO_WAITING, 0o600);
  try {
    refuseKind(path, fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
};

/** As {@link openRegularFile}, for callers that go on meanwhile. */
export const openFileHandle = async (path: string, how: OpenHow = 'read'): Promise<FileHandle> => {
  refuseIrregular(path);
  const handle = await open(path, FLAGS[how] | NO_WAITING, 0o600);
  try {
    refuseKind(path, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
};

/**
 * The bytes of a regular file.
 *
 * @param most bytes of the largest file that is read
 * @throws as {@link openRegularFile}; an Error with the code EFBIG for a file that is larger
 */
export const readRegularFile = (path: string, most = MOST): Buffer => {
  const file = openRegularFile(path);
  try {
    const { size } = fstatSync(file);
    if (size > most) throw refusal(path, 'EFBIG', `has ${size} bytes, more than ${most}`);
    const bytes = Buffer.alloc(size);
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

/**
 * What the system says of a regular file, before a library opens it; undefined if nothing is there.
 *
 * @throws an Error with the code EINVAL that names what is no regular file
 */
export const refuseIrregular = (path: string): Stats | undefined => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined) refuseKind(path, stat);
  else if (isPresent(path)) throw refusal(path, 'EINVAL', 'is a link to what is not there');
  return stat;
};

/** True if anything has this name, a link to nothing too. @throws the system's error if a folder above it is none, or is closed */
export const isPresent = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** True for an error that says that something else is in the place of a regular file, or one that is too large. */
export const isIrregular = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'EFBIG');

const refuseKind = (path: string, stat: Stats): void => {
  if (!stat.isFile()) throw refusal(path, 'EINVAL', `is ${kindOf(stat)}, not a regular file`);
};

const kindOf = (stat: Stats): string => {
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
};

const refusal = (path: string, code: string, what: string): Error =>
  Object.assign(new Error(`${code}: ${path} ${what}`), { code, syscall: 'open', path });
