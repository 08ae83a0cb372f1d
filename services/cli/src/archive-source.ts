import { evalLines, ZIP_MAGIC } from '@stemma/importers';
import { openFileHandle, openRegularFile } from '@stemma/machine';
import { closeSync, readSync } from 'node:fs';

/** True if a file begins as a zip archive does. */
export const isArchive = (path: string): boolean => {
  const head = Buffer.alloc(ZIP_MAGIC.length);
  const fd = openRegularFile(path);
  try {
    return (
      readSync(fd, head, 0, head.length, 0) === head.length && ZIP_MAGIC.every((byte, i) => head[i] === byte)
    );
  } finally {
    closeSync(fd);
  }
};

/**
 * The lines of an archive that an importer reads (`.eval`), each time from the beginning.
 *
 * @throws E_INPUT_SHAPE for an archive that holds no log, E_INPUT_TOO_LARGE, E_INPUT_TRUNCATED
 */
export async function* archiveLines(path: string, name: string): AsyncIterable<Uint8Array> {
  const file = await openFileHandle(path);
  try {
    const { size } = await file.stat();
    yield* evalLines({
      name,
      size,
      read: async (offset, length) => {
        const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
        return bytes.subarray(0, bytesRead);
      },
    });
  } finally {
    await file.close();
  }
}
