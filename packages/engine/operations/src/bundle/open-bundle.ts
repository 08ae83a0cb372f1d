import { sha256 } from '@stemma/canonical';
import { openDirectoryContents } from '@stemma/contents';
import { fail } from '@stemma/errors';
import { decodeEnvelope, sameBytes, ZERO_HASH } from '@stemma/log';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { openRegularFile } from '@stemma/machine';
import { closeSync, fstatSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openFrameAppender } from '../frames/append-frames.ts';
import { makeFolderBeside } from '../scratch-folders.ts';
import { decodeBundle, type BundleBytes, type BundleHeader } from './bundle-file.ts';

/** A bundle in a home of its own, which is gone when it is closed. */
export type OpenedBundle = BundleHeader & {
  /** Of the home. */
  readonly directory: string;
  readonly close: () => void;
};

/**
 * Makes a home of a bundle in a temporary folder: its log and contents, verified.
 *
 * @throws as {@link unpackBundle}
 */
export const openBundle = async (path: string): Promise<OpenedBundle> => {
  const directory = makeFolderBeside();
  const close = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    return { ...(await unpackBundle(path, directory)), directory, close };
  } catch (error) {
    close();
    throw error;
  }
};

/**
 * Makes a home of a bundle in a directory that has none.
 *
 * @throws E_BUNDLE_NOT_FOUND; E_BUNDLE_DAMAGED if a byte is not as it was written, or a frame does not follow the one before it;
 *   E_VERSION_NEEDED; E_IO
 */
export const unpackBundle = async (path: string, directory: string): Promise<BundleHeader> => {
  using file = openBundleBytes(path);
  const { header, items } = decodeBundle(file, path);
  const log = await openEmbeddedLog({ directory: join(directory, 'log') });
  const contents = await openDirectoryContents(join(directory, 'contents'));
  const appender = openFrameAppender(log, () => undefined);
  const heads = new Map<string, { readonly next: number; readonly prev: Uint8Array }>();
  try {
    for (const item of items) {
      if (item.kind === 'content') {
        await contents.put(item.bytes);
        continue;
      }
      const read = decodeEnvelope(item.bytes);
      const { next, prev } = heads.get(read?.envelope.history ?? '') ?? { next: 0, prev: ZERO_HASH };
      if (read?.envelope.seq !== next || !sameBytes(read.envelope.prev, prev))
        throw fail('E_BUNDLE_DAMAGED', `${path}: a frame does not follow the one before it`, { file: path });
      heads.set(read.envelope.history, { next: next + 1, prev: sha256(item.bytes) });
      await appender.add({ ...read, bytes: item.bytes });
    }
    await appender.flush();
  } finally {
    await contents.close();
    await log.close();
  }
  return header;
};

/** @throws E_BUNDLE_NOT_FOUND, E_IO */
const openBundleBytes = (path: string): BundleBytes & Disposable => {
  const io = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') throw fail('E_BUNDLE_NOT_FOUND', `there is no file ${path}`, { file: path });
      throw fail('E_IO', message, { file: path });
    }
  };
  const file = io(() => openRegularFile(path));
  return {
    size: io(() => fstatSync(file).size),
    read: (at, length) =>
      io(() => {
        const bytes = Buffer.allocUnsafe(length);
        let read = 0;
        while (read < length) {
          const some = readSync(file, bytes, read, length - read, at + read);
          if (some === 0) break;
          read += some;
        }
        return bytes.subarray(0, read);
      }),
    [Symbol.dispose]: () => closeSync(file),
  };
};
