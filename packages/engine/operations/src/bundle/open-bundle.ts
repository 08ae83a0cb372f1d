import { sha256 } from '@stemma/canonical';
import { openDirectoryContents } from '@stemma/contents';
import { fail } from '@stemma/errors';
import { decodeEnvelope, sameBytes, ZERO_HASH } from '@stemma/log';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { readRegularFile } from '@stemma/machine';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openFrameAppender } from '../frames/append-frames.ts';
import { makeFolderBeside } from '../scratch-folders.ts';
import { decodeBundle, type BundleHeader } from './bundle-file.ts';

/** A bundle in a home of its own, which is gone when it is closed. */
export type OpenedBundle = BundleHeader & {
  /** Of the home. */
  readonly directory: string;
  readonly close: () => void;
};

/** The most bytes of a bundle. */
const MOST = 1024 * 1024 * 1024;

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
  const { header, items } = decodeBundle(readBundle(path), path);
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

const readBundle = (path: string): Buffer => {
  try {
    return readRegularFile(path, MOST);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw fail('E_BUNDLE_NOT_FOUND', `there is no file ${path}`, { file: path });
    throw fail('E_IO', message, { file: path });
  }
};
