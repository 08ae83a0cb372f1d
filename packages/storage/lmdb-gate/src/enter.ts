import { isPresent, openRegularFile } from '@stemma/machine';
import { closeSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gateFiles, openGate, type Gate } from './gate.ts';
import { findDamageIn, makeLmdb, makeWhole, type LmdbFiles } from './lmdb-files.ts';
import { copyMark, latestFolder, noteDamage, nextFolder, retireFolders } from './numbered-folders.ts';
import { enterAsUser } from './users.ts';

/** An environment that this process has open, its gate, and the folder of both. */
export type Entered<T> = {
  readonly opened: T;
  readonly folder: string;
  readonly gate: Gate;
  /** Whether another one was put in its place, because it was damaged. */
  isReplaced(): boolean;
  /** Puts an empty one in its place, for all processes: something in it was found damaged. The reason is a clause. */
  replace(damage: string): void;
  /** Whether another process, or another part of this one, has it open. */
  isShared(): boolean;
  /** Call it when `opened` is closed. */
  leave(): Promise<void>;
};

export type EnterOptions<T> = {
  /** Of numbered folders, each with an environment and its gate. */
  readonly directory: string;
  readonly boot?: string;
  readonly filesIn: (folder: string) => LmdbFiles;
  /** Whether a folder should not be used, whatever its environment is like. */
  readonly isOutdated?: (folder: string) => boolean;
  /** Whether a file is as the last one left it who closed it: then only its head is looked at. Asked inside the gate. */
  readonly isKnown: (folder: string) => boolean;
  /** Opens the environment, inside the gate. */
  readonly open: (folder: string) => T;
  /** Told why an environment was put aside, in a clause. */
  readonly replaced: (damage: string) => void;
  /**
   * Told that an environment was put aside because somebody copied it while others used it: it may be of another moment
   * than the files beside it. The folder that takes its place has a {@link copyMark}.
   */
  readonly copied: () => void;
  /** Do not use what a process opened last and ended over, even if nothing is found. */
  readonly distrustOpeners?: boolean;
};

/**
 * Opens the newest environment of a directory, which may hold anything, without LMDB ending the process. Before it is
 * mapped its head is looked at, and every page if a process ended that had not closed it. One that cannot be used is put
 * aside, and an empty one is opened instead (docs/decisions/0053).
 *
 * @throws the system's error if files cannot be read or written
 */
export const enterEnvironment = <T>(options: EnterOptions<T>): Entered<T> => {
  const { directory, filesIn, boot, isOutdated, replaced, copied } = options;
  for (;;) {
    const folder = latestFolder(directory);
    // What is no folder is not used, and the next number takes its place.
    if (!isPresent(folder)) makeWhole(folder, (temporary) => fillFolder(temporary, filesIn));
    // Without a place for notes it is from a version before this one.
    const outdated = !isFolder(join(folder, 'users')) || isOutdated?.(folder) === true;
    const found = outdated ? { damage: '' } : tryUnlessGone(folder, options);
    if (found === undefined) continue;
    if (!('damage' in found)) {
      retireFolders(folder, boot);
      return found;
    }
    const next = nextFolder(folder);
    // Another process was first, and the folder may have gone while it was looked at.
    if (existsSync(next)) continue;
    const isCopy = found.damage === COPIED;
    makeWhole(next, (temporary) => {
      fillFolder(temporary, filesIn);
      // A copy that nobody has recovered yet is one still.
      if (isCopy || existsSync(copyMark(folder))) closeSync(openRegularFile(copyMark(temporary), 'new'));
    });
    if (outdated) continue;
    if (isCopy) {
      copied();
      continue;
    }
    noteDamage(folder, found.damage);
    replaced(found.damage);
  }
};

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const fillFolder = (folder: string, filesIn: (folder: string) => LmdbFiles): void => {
  makeLmdb(filesIn(folder));
  makeLmdb(gateFiles(join(folder, 'gate')));
  mkdirSync(join(folder, 'users'), { mode: 0o700 });
};

type Damaged = { readonly damage: string };

const COPIED = 'it was copied while others used it';

/** Undefined: another process, which began with this one, has put the folder aside and another in its place. */
const tryUnlessGone = <T>(folder: string, options: EnterOptions<T>): Entered<T> | Damaged | undefined => {
  try {
    return tryFolder(folder, options);
  } catch (error) {
    if (isFolder(folder) || !isPresent(nextFolder(folder))) throw error;
    return undefined;
  }
};

const tryFolder = <T>(
  folder: string,
  { filesIn, boot, isKnown, open, distrustOpeners = false }: EnterOptions<T>,
): Entered<T> | Damaged => {
  const user = enterAsUser(join(folder, 'users'), boot);
  let gate: Gate | undefined;
  const leave = async (): Promise<void> => {
    try {
      await gate?.close();
    } finally {
      user.leave();
    }
  };
  /** A note that cannot be removed says nothing once this process has ended. */
  const giveUp = (): void => void leave().catch(() => undefined);
  try {
    if (user.wasCopied()) {
      user.leave();
      return { damage: COPIED };
    }
    const opened = openGateIn(folder);
    if ('damage' in opened) {
      user.leave();
      return opened;
    }
    ({ gate } = opened);
    const found = gate.pass((): { readonly opened: T } | Damaged => {
      const known = !user.someCrashed() && (user.othersAlive() || isKnown(folder));
      const damage = findDamageIn(filesIn(folder), known ? 'head' : 'all');
      if (damage !== null) return { damage };
      if (distrustOpeners && user.openersCrashed())
        return { damage: 'a process ended while it was opening it' };
      user.forgetCrashed();
      return { opened: open(folder) };
    });
    if ('damage' in found) {
      giveUp();
      return found;
    }
    user.opened();
    const next = nextFolder(folder);
    const isReplaced = (): boolean => existsSync(next);
    const replace = (damage: string): void => {
      if (isReplaced()) return;
      makeWhole(next, (temporary) => fillFolder(temporary, filesIn));
      noteDamage(folder, damage);
    };
    return {
      opened: found.opened,
      folder,
      gate,
      isReplaced,
      replace,
      isShared: () => user.othersAlive(),
      leave,
    };
  } catch (error) {
    giveUp();
    throw error;
  }
};

const openGateIn = (folder: string): { readonly gate: Gate } | Damaged => {
  const files = gateFiles(join(folder, 'gate'));
  // Nobody ever writes to it: no turn is needed to look at it.
  const damage = findDamageIn(files, 'all');
  if (damage !== null) return { damage: `gate/${damage}` };
  try {
    return { gate: openGate(files) };
  } catch (error) {
    return { damage: `gate: ${error instanceof Error ? error.message : String(error)}` };
  }
};
