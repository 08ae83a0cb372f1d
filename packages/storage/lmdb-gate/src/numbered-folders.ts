import { replaceFileSync } from '@stemma/machine';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasUsers } from './users.ts';

/*
 * Environments stand in numbered folders. One that is not to be used any more is never repaired: the next number takes
 * its place. So all processes that find the damage agree, without a lock, and those that still have it open find out by
 * looking for the next number.
 */

const NUMBER = /^\d+$/;
const DAMAGED = /^damaged-\d+$/;
/** For who wants to look at them. */
const DAMAGED_KEPT = 2;

/** The folder with the highest number; the first, which need not be there, if there is none. */
export const latestFolder = (directory: string): string => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return join(directory, String(numbersIn(directory).at(-1) ?? 1));
};

/** Whether any process has the newest environment of a directory open; the directory need not be there. */
export const isInUse = (directory: string): boolean =>
  existsSync(directory) && hasUsers(join(latestFolder(directory), 'users'));

export const nextFolder = (folder: string): string =>
  join(dirname(folder), String(Number(basename(folder)) + 1));

/** In a folder that takes the place of one that was copied while others used it, until its user has recovered from that. */
export const copyMark = (folder: string): string => join(folder, 'copied');

/** Says in a folder why it is not used any more. */
export const noteDamage = (folder: string, damage: string): void => {
  try {
    replaceFileSync(join(folder, 'damage'), `${damage}\n`, { synced: false });
  } catch {
    // It is gone already, or the disk is full: the folder is out of use all the same.
  }
};

/** Puts the folders before the current one aside that nobody uses; the last damaged ones are kept as `damaged-N`. */
export const retireFolders = (current: string, boot?: string): void => {
  const directory = dirname(current);
  for (const number of numbersIn(directory)) {
    const folder = join(directory, String(number));
    // Who has an older one open looks for the next number: it stays, too.
    if (folder === current || hasUsers(join(folder, 'users'), boot)) break;
    quietly(() => {
      if (readdirSync(folder).includes('damage')) renameSync(folder, join(directory, `damaged-${number}`));
      else rmSync(folder, { recursive: true, force: true });
    });
  }
  const kept = readdirSync(directory)
    .filter((name) => DAMAGED.test(name))
    .sort((a, b) => numberOf(b) - numberOf(a));
  for (const name of kept.slice(DAMAGED_KEPT))
    quietly(() => rmSync(join(directory, name), { recursive: true, force: true }));
};

const numbersIn = (directory: string): number[] =>
  readdirSync(directory)
    .filter((name) => NUMBER.test(name))
    .map(Number)
    .sort((a, b) => a - b);

const numberOf = (name: string): number => Number(name.replace(/\D/g, ''));

/** Another process may be at the same, or (on Windows) still hold the files: a leftover does no harm. */
const quietly = (act: () => void): void => {
  try {
    act();
  } catch {
    return;
  }
};
