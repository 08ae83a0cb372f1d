import { fail } from '@stemma/errors';
import { beganAt, isAlive } from '@stemma/machine';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const PREFIX = 'replay-';

/** Makes a folder in a home for rows that this process compares and then removes. Its name says which process that is. */
export const makeScratchFolder = (directory: string): string => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(directory, `${PREFIX}${process.pid}.${beganAt(process.pid) ?? ''}.`));
};

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
  const [, pid, began = ''] = /^replay-([1-9]\d*)\.(\d*)\./.exec(name) ?? [];
  return pid !== undefined && isAlive(Number(pid), began === '' ? undefined : began);
};
