import { beganAt, bootId, isAlive, openRegularFile } from '@stemma/machine';
import { closeSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A process that has the environment of a folder open, as the others see it. */
export type User = {
  /** Whether another one has it open at this moment. */
  othersAlive(): boolean;
  /** Whether one ended before it had closed it: killed by somebody, or by what it read. */
  someCrashed(): boolean;
  /** Whether the folder was copied while some had it open: their notes name the folder that they stood in. */
  wasCopied(): boolean;
  /** Whether one ended while it was opening, which takes a moment: most likely, opening killed it. */
  openersCrashed(): boolean;
  /** From here on nobody has crashed: what they left was looked at. */
  forgetCrashed(): void;
  /** It is open now. */
  opened(): void;
  /** After all is closed. */
  leave(): void;
};

let count = 0;
const OPENING = 'opening.';

/**
 * Notes in a folder that this process is about to map a file, so that whoever comes later knows whether it is alone, and
 * whether the last one came to its end. A note is an empty file: its name says which process it was.
 *
 * @throws the system's error if the folder is gone, or has no place for the note
 */
export const enterAsUser = (folder: string, boot: string = bootId()): User => {
  const unique = `${++count}-${process.hrtime.bigint()}`;
  const place = placeOf(folder);
  const own = `${process.pid}.${beganAt(process.pid) ?? '-'}.${unique}.${nameOfBoot(boot)}.${place}`;
  let note = join(folder, OPENING + own);
  closeSync(openRegularFile(note, 'new'));
  const ended = hasEnded(boot, place);
  const others = (): string[] => readdirSync(folder).filter((name) => !name.endsWith(own));
  return {
    othersAlive: () => !others().every(ended),
    someCrashed: () => others().some(ended),
    wasCopied: () => others().some((name) => isFromElsewhere(name, place)),
    openersCrashed: () => others().some((name) => name.startsWith(OPENING) && ended(name)),
    forgetCrashed: () => {
      for (const name of others().filter(ended)) rmSync(join(folder, name), { force: true });
    },
    opened: () => {
      const open = join(folder, own);
      try {
        renameSync(note, open);
        note = open;
      } catch {
        // The folder was put aside at this moment.
      }
    },
    leave: () => rmSync(note, { force: true }),
  };
};

/** Whether any process has the environment of a folder open. */
export const hasUsers = (folder: string, boot: string = bootId()): boolean => {
  try {
    return !readdirSync(folder).every(hasEnded(boot, placeOf(folder)));
  } catch {
    return false;
  }
};

/**
 * Whether somebody else has an environment open that this process has entered once: another process, or another part of
 * this one. It takes some microseconds if not.
 *
 * @param folder of the environment; true if it is gone
 */
export const hasOthers = (folder: string): boolean => {
  try {
    const users = join(folder, 'users');
    const notes = readdirSync(users);
    if (notes.length === 1) return false;
    const ended = hasEnded(bootId(), placeOf(users));
    return notes.filter((note) => !ended(note)).length !== 1;
  } catch {
    return true;
  }
};

const nameOfBoot = (boot: string): string => boot.replace(/[^\w-]/g, '_');

/** A folder's number in its file system: the same after a restart and after it was moved, another for a copy. */
const placeOf = (folder: string): string => String(statSync(folder, { bigint: true }).ino);

/** Notes of versions before this one name no folder. */
const isFromElsewhere = (name: string, place: string): boolean => {
  const [, , , , there = place] = name.replace(OPENING, '').split('.');
  return there !== place;
};

const hasEnded =
  (now: string, place: string) =>
  (name: string): boolean => {
    if (isFromElsewhere(name, place)) return true;
    const [pid = '', began = '', , boot = ''] = name.replace(OPENING, '').split('.');
    return boot !== nameOfBoot(now) || !isAlive(Number(pid), began === '-' ? undefined : began);
  };
