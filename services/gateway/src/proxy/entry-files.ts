import { openFileHandle } from '@stemma/machine';
import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { EntryRef } from './entry.ts';

/** Reads entries where they stand in files of the journal. */
export type EntryFiles = {
  readonly read: (ref: Extract<EntryRef, { file: string }>) => Promise<Buffer>;
  readonly close: () => void;
};

/** The most bytes that are read without waiting. */
const SMALL = 64 * 1024;

/** Entries that wait stand one behind the other, so the next one is mostly in the file of the last one: that one stays open. */
export const openEntryFiles = (): EntryFiles => {
  let last: { readonly file: string; readonly handle: Promise<FileHandle> } | undefined;
  const closeLast = (): void => {
    void last?.handle.then((handle) => handle.close()).catch(() => undefined);
    last = undefined;
  };
  return {
    read: async ({ file, at, length }) => {
      if (last?.file !== file) {
        closeLast();
        last = { file, handle: openFileHandle(file) };
      }
      try {
        const handle = await last.handle;
        const bytes = Buffer.alloc(length);
        // What was written a moment ago comes from memory: to wait for it takes longer than to read it.
        if (length <= SMALL) readSync(handle.fd, bytes, 0, length, at);
        else await handle.read(bytes, 0, length, at);
        return bytes;
      } catch (error) {
        closeLast();
        throw error;
      }
    },
    close: closeLast,
  };
};
