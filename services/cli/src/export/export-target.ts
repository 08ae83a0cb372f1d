import { StemmaError } from '@stemma/errors';
import { openFileHandle } from '@stemma/machine';
import { rename, rm } from 'node:fs/promises';
import type { Output } from '../output.ts';

/** Where an export goes. */
export type ExportTarget = {
  readonly write: (piece: string | Uint8Array) => Promise<void>;
  /** Says that all is written; gives the bytes. */
  readonly end: () => Promise<number>;
  /** Removes what was written of a file. */
  readonly leave: () => Promise<void>;
};

/** Pieces are put together to so many bytes before they are written. */
const CHUNK = 256 * 1024;

/** A file that takes the place of another once all of it is written; only its owner may read it. @throws E_IO */
export const fileTarget = async (path: string): Promise<ExportTarget> => {
  const partial = `${path}.${process.pid}.partial`;
  const guarded = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw new StemmaError(
        'E_IO',
        `${path} cannot be written: ${String(error)}`,
        { path },
        { cause: error },
      );
    });
  const handle = await guarded(openFileHandle(partial, 'new'));
  const pieces = openPieces((bytes) => guarded(handle.writeFile(bytes)));
  return {
    write: (piece) => pieces.write(piece),
    end: async () => {
      const bytes = await pieces.flush();
      await handle.close();
      await guarded(rename(partial, path));
      return bytes;
    },
    leave: async () => {
      await handle.close();
      await rm(partial, { force: true });
    },
  };
};

/** Standard output. Bytes go there as they are, as they do to a file. */
export const outputTarget = ({ writeBytes }: Output): ExportTarget => {
  const pieces = openPieces(writeBytes);
  return { write: (piece) => pieces.write(piece), end: () => pieces.flush(), leave: () => Promise.resolve() };
};

const openPieces = (write: (bytes: Uint8Array) => Promise<void>) => {
  let waiting: Uint8Array[] = [];
  let size = 0;
  let all = 0;
  const flush = async (): Promise<number> => {
    const bytes = Buffer.concat(waiting);
    [waiting, size] = [[], 0];
    if (bytes.length > 0) await write(bytes);
    return all;
  };
  return {
    flush,
    write: async (piece: string | Uint8Array): Promise<void> => {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      waiting.push(bytes);
      size += bytes.length;
      all += bytes.length;
      if (size >= CHUNK) await flush();
    },
  };
};
