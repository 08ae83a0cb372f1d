import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Dice } from './power.ts';

/*
 * What a crash leaves of rows in LMDB. LMDB writes the pages of a transaction into places that nobody reads, and then, with one
 * write, the first page that names them: page N % 2 for transaction N. So a process that is killed in between has written any of
 * these pages, also parts of them, and not the first one. Nothing is synced: a power loss keeps any version of any sector.
 */

const SECTOR = 512;
/** Where the first pages keep the number of their transaction, and the size of pages (see lmdb-gate's `find-damage.ts`). */
const TRANSACTION_AT = 152;
const PAGE_BYTES_AT = 48;

const pageBytesOf = (file: Buffer): number => file.readUInt32LE(PAGE_BYTES_AT);

/** The number of the newest transaction in the file of an environment. */
export const transactionOf = (file: Buffer): number =>
  Math.max(
    Number(file.readBigUInt64LE(TRANSACTION_AT)),
    Number(file.readBigUInt64LE(pageBytesOf(file) + TRANSACTION_AT)),
  );

/** The file of a process that was killed while it wrote one transaction: all of it, or any sectors but those of the first page. */
export const killedWriting = (before: Buffer, after: Buffer, dice: Dice): Buffer => {
  if (dice.chance(0.2)) return after;
  const first = 2 * pageBytesOf(after);
  const length = dice.chance(0.5) ? after.length : Math.max(before.length, first);
  const left = Buffer.alloc(length);
  before.copy(left);
  const often = dice.roll();
  for (let at = first; at < length; at += SECTOR)
    if (dice.chance(often)) after.copy(left, at, at, Math.min(at + SECTOR, after.length));
  return left;
};

/**
 * The file after a power loss: each sector as in any of its versions since it was synced, or zeros if it never was; now and then all
 * of them as in one.
 */
export const unsynced = (synced: Buffer | undefined, versions: readonly Buffer[], dice: Dice): Buffer => {
  const all = [synced ?? Buffer.alloc(0), ...versions];
  if (dice.chance(0.2)) return Buffer.from(dice.pick(all));
  const { length } = dice.pick(all);
  const left = Buffer.alloc(length);
  for (let at = 0; at < length; at += SECTOR) dice.pick(all).copy(left, at, at, at + SECTOR);
  return left;
};

/**
 * Copies rows as a crash left them: the notes of users name the new place, as those of the machine that crashed do, and the process
 * is none that lives.
 */
export const copyRows = (from: string, to: string): void => {
  if (!existsSync(from)) return;
  cpSync(from, to, { recursive: true });
  for (const number of readdirSync(to)) {
    const users = join(to, number, 'users');
    if (!existsSync(users)) continue;
    const [here, there] = [from, to].map((folder) => statSync(join(folder, number, 'users')).ino);
    for (const note of readdirSync(users)) {
      const parts = note.split('.');
      const place = parts.pop() === String(here) ? String(there) : 'elsewhere';
      // `opening.` stands before the process.
      const began = note.startsWith('opening.') ? 2 : 1;
      parts[began] = 'long-ago';
      renameSync(join(users, note), join(users, [...parts, place].join('.')));
    }
  }
};

/** Has a copy look to the system as its original, if that looks as it did when it was closed. */
export const copyLooks = (from: string, to: string): void => {
  const looks = (folder: string): string => {
    const { ino, size, ctimeNs } = statSync(join(folder, 'rows.mdb'), { bigint: true });
    return `${ino} ${size} ${ctimeNs}`;
  };
  const note = join(from, 'closed');
  if (!existsSync(note) || !existsSync(join(from, 'rows.mdb'))) return;
  const text = readFileSync(note, 'latin1');
  if (text.startsWith(looks(from))) writeFileSync(join(to, 'closed'), text.replace(looks(from), looks(to)));
};

/** Files that are made with an environment and never synced: a power loss may take or empty them. */
export const loseOthers = (rows: string, dice: Dice): void => {
  for (const entry of readdirSync(rows, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || ['rows.mdb', 'state'].includes(basename(path)) || dice.chance(0.6)) continue;
    if (dice.chance(0.5)) rmSync(path);
    else writeFileSync(path, dice.chance(0.5) ? '' : Buffer.alloc(statSync(path).size));
  }
};
