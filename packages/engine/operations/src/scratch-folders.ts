import { fail } from '@stemma/errors';
import { beganAt, isAlive } from '@stemma/machine';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'replay-';

/** Makes a folder in a home for rows that this process compares and then removes. Its name says which process that is. */
export const makeScratchFolder = (directory: string): string => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return make(directory, PREFIX);
};

const BESIDE = 'stemma-rows-';

/**
 * Makes a folder outside of a home that can only be read, for what is derived from it. What this user's processes left there
 * that were killed is removed.
 *
 * @throws E_IO
 */
export const makeFolderBeside = (): string => {
  const parent = tmpdir();
  for (const name of namesIn(parent)) {
    // Other programs put their own things there.
    if (!name.startsWith(BESIDE) || ownerOf(name) === undefined || isOfLivingProcess(name)) continue;
    const folder = join(parent, name);
    const left = lstatSync(folder, { throwIfNoEntry: false });
    if (left?.isDirectory() === true && left.uid === process.getuid?.())
      rmSync(folder, { recursive: true, force: true });
  }
  try {
    return make(parent, BESIDE);
  } catch (error) {
    throw fail('E_IO', `there is no room for rows of a home that can only be read: ${String(error)}`);
  }
};

const make = (parent: string, prefix: string): string =>
  mkdtempSync(join(parent, `${prefix}${process.pid}.${beganAt(process.pid) ?? ''}.`));

/**
 * Removes the scratch folders of processes that ended before they had removed them: they may hold what was erased since.
 *
 * @throws E_IO
 */
export const removeScratchFolders = (directory: string): void => {
  for (const name of namesIn(directory))
    if (name.startsWith(PREFIX) && !isOfLivingProcess(name)) remove(join(directory, name));
};

const remove = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // Another process that began with this one was first.
    if (!existsSync(folder)) return;
    throw fail(
      'E_IO',
      `${folder} is left of a replay that was killed, and cannot be removed: ${String(error)}`,
    );
  }
};

const namesIn = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

/** False too for a name without a process, as earlier versions gave. */
const isOfLivingProcess = (name: string): boolean => {
  const owner = ownerOf(name);
  return owner !== undefined && isAlive(owner.pid, owner.began === '' ? undefined : owner.began);
};

/** The process that a folder is named after, and when it began. */
const ownerOf = (name: string): { readonly pid: number; readonly began: string } | undefined => {
  const [, pid, began = ''] = /^(?:replay|stemma-rows)-([1-9]\d*)\.(\d*)\./.exec(name) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), began };
};
