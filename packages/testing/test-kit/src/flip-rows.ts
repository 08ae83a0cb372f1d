import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/* Damage in the file of rows in LMDB, as LMDB 0.9 lays its pages out: for tests. */

const PAGE = 4096;
const HEAD = 16;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const BIG_DATA = 0x01;
const SUB_DATABASE = 0x02;

/** The file with the rows that a home reads now. */
export const rowsFileOf = (home: string): string => {
  const folder = join(home, 'rows');
  const last = readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .toSorted((a, b) => Number(b) - Number(a))[0];
  return join(folder, last ?? '1', 'rows.mdb');
};

/** Replaces the first byte of every occurrence of a text; returns how many there are. */
export const replaceInRows = (home: string, text: string, by: string): number => {
  const file = rowsFileOf(home);
  const bytes = readFileSync(file);
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    bytes.write(by, at, 'latin1');
    count++;
  }
  writeFileSync(file, bytes, { flag: 'r+' });
  return count;
};

/** The ranges of bytes that hold keys and values, [from, to) each. LMDB follows no pointer in them. */
const dataIn = (bytes: Buffer): (readonly [number, number])[] => {
  const found: (readonly [number, number])[] = [];
  for (let page = 2 * PAGE; page + PAGE <= bytes.length; page += PAGE) {
    const flags = bytes.readUInt16LE(page + 10);
    if ((flags & OVERFLOW) !== 0 && bytes.readUInt32LE(page) === page / PAGE) {
      const pages = bytes.readUInt32LE(page + 12);
      found.push([page + HEAD, Math.min(page + pages * PAGE, bytes.length)]);
      page += (pages - 1) * PAGE;
      continue;
    }
    if (flags !== LEAF) continue;
    const lower = bytes.readUInt16LE(page + 12);
    for (let at = page + HEAD; at < page + lower; at += 2) {
      const node = page + bytes.readUInt16LE(at);
      const [size, nodeFlags, keySize] = [0, 4, 6].map((offset) => bytes.readUInt16LE(node + offset)) as [
        number,
        number,
        number,
      ];
      if ((nodeFlags & SUB_DATABASE) !== 0) continue;
      found.push([node + 8, node + 8 + keySize + ((nodeFlags & BIG_DATA) === 0 ? size : 0)]);
    }
  }
  return found;
};

/** Flips one bit of a key or a value; `random` returns numbers in [0, 1). */
export const flipBitOfRow = (home: string, random: () => number): void => {
  const file = rowsFileOf(home);
  const bytes = readFileSync(file);
  const places = dataIn(bytes);
  const all = places.reduce((sum, [from, to]) => sum + to - from, 0);
  let left = Math.floor(random() * all);
  for (const [from, to] of places) {
    if (left >= to - from) left -= to - from;
    else {
      const at = from + left;
      bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(random() * 8));
      break;
    }
  }
  writeFileSync(file, bytes, { flag: 'r+' });
};
