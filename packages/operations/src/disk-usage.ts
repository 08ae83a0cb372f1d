import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The bytes that all files below a folder take on the disk. */
export const diskUsage = (folder: string): number => {
  let bytes = 0;
  if (!existsSync(folder)) return 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile())
      bytes += (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  return bytes;
};

/** Bytes that rows take, and contents; null where nobody counts them. */
export type DiskUsage = { readonly rows: number; readonly contents: number | null };
