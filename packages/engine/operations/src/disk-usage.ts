import { readdirSync, statSync, type Dirent } from 'node:fs';
import { join } from 'node:path';

/** The bytes that all files below a folder take on the disk. What goes away meanwhile takes none. */
export const diskUsage = (folder: string): number => {
  let bytes = 0;
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += diskUsage(path);
    else if (entry.isFile()) bytes += (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return bytes;
};

/** None of a folder that is not there: another process moves and removes folders of rows. */
const entriesOf = (folder: string): readonly Dirent[] => {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
};

/** Bytes that rows take, and contents; null where nobody counts them. */
export type DiskUsage = { readonly rows: number; readonly contents: number | null };
