import { fail } from '@stemma/errors';
import { closeSync, constants, createReadStream, fstatSync, openSync, statSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Surroundings } from './surroundings.ts';

/** What reading needs of a command's context. */
export type InputSurroundings = Pick<Surroundings, 'stdin' | 'signal'>;

/** Where bytes come from: a file, which can be read again and has a size, or a pipe, which can be read once. */
export type Input = {
  readonly kind: 'file' | 'pipe';
  /** The size of a file, as it is now. */
  readonly size: number | null;
  /** The bytes, which end with the signal, also where nobody has opened the pipe for writing. @throws E_IO, E_CANCELLED */
  readonly read: () => AsyncIterable<Uint8Array>;
};

/** The input that a path names, `-` and `/dev/stdin` being stdin. @throws E_IO for what is neither a file nor a pipe */
export const openInput = (path: string, { stdin, signal }: InputSurroundings): Input => {
  // No file has a name with U+0000.
  const stat = path === '-' || path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false });
  if (path === '-' || (stat !== undefined && isStdin(stat)))
    return { kind: 'pipe', size: null, read: () => untilAborted(() => stdin, signal) };
  if (stat === undefined) throw fail('E_IO', `the file ${path} does not exist`, { file: path });
  if (stat.isDirectory()) throw fail('E_IO', `${path} is a folder: name the files in it`, { file: path });
  if (stat.isFile()) return { kind: 'file', size: stat.size, read: () => createReadStream(path, { signal }) };
  if (!stat.isFIFO()) throw fail('E_IO', `${path} is neither a file nor a pipe`, { file: path });
  return { kind: 'pipe', size: null, read: () => untilAborted(() => openPipe(path), signal) };
};

/** The stdin of this process under another name, such as /dev/stdin, where it is no file: it cannot be opened again. */
const isStdin = (stat: Stats): boolean => {
  if (stat.isFile()) return false;
  try {
    const own = fstatSync(0);
    return own.ino === stat.ino && own.dev === stat.dev;
  } catch {
    return false; // this process has no stdin
  }
};

/** Opening a pipe waits for somebody who writes to it, and nothing ends that wait; opened like this it waits in the loop. */
const openPipe = (path: string): Readable => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return new Socket({ fd, readable: true, writable: false });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
};

/** Opens when it is read first: a pipe that was opened and is never read keeps the process alive. */
async function* untilAborted(open: () => Readable, signal: AbortSignal): AsyncIterable<Uint8Array> {
  signal.throwIfAborted();
  const stream = open();
  const abort = (): void => void stream.destroy(signal.reason as Error);
  signal.addEventListener('abort', abort);
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
