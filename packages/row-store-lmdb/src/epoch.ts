import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/*
 * Rows are not synced: the page cache keeps them when a process dies, but not when the machine does. So a directory
 * holds epochs: numbered folders with one lmdb environment each, and beside each a small durable file with the boot in
 * which it was written and whether it was fully synced since. An unclean epoch of another boot may hold anything: the
 * store starts the next one, empty, and the rows are rebuilt from the log.
 */

/** The content of an epoch's file `state`. No file: nothing was ever committed. */
export type EpochState = { readonly boot: string; readonly clean: boolean };

/** The folder of the epoch to use; a new one if the last one cannot be trusted. */
export const chooseEpoch = (directory: string, boot: string): string => {
  mkdirSync(directory, { recursive: true });
  const numbers = readdirSync(directory)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
  const last = numbers.at(-1) ?? 1;
  const state = readEpochState(epochFolder(directory, last));
  const lost = state !== null && !state.clean && state.boot !== boot;
  const chosen = lost ? last + 1 : last;
  mkdirSync(epochFolder(directory, chosen), { recursive: true });
  for (const number of numbers) if (number < chosen) removeQuietly(epochFolder(directory, number));
  return epochFolder(directory, chosen);
};

const epochFolder = (directory: string, number: number): string => join(directory, String(number));

/** Another process may be removing the same folder, or (on Windows) still hold its files: a leftover does no harm. */
const removeQuietly = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    return;
  }
};

export const readEpochState = (folder: string): EpochState | null => {
  let text: string;
  try {
    text = readFileSync(join(folder, 'state'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const [word, boot] = text.trim().split(' ');
  return { boot: boot ?? '', clean: word === 'clean' };
};

/** Durable when it returns: file and folder are synced. */
export const writeEpochState = (folder: string, { boot, clean }: EpochState): void => {
  const path = join(folder, 'state');
  const temporary = `${path}.${process.pid}`;
  const file = openSync(temporary, 'w');
  try {
    writeSync(file, `${clean ? 'clean' : 'written'} ${boot}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  const entry = openSync(folder, 'r');
  try {
    fsyncSync(entry);
  } finally {
    closeSync(entry);
  }
};
