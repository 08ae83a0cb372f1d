import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const HOWS = ['zeroed', 'flipped', 'truncated', 'missing'] as const;

/** One damage of one file: at a byte, except that a missing file is missing altogether. */
export type Damage = {
  readonly file: string;
  readonly how: (typeof HOWS)[number];
  readonly at: number;
};

const STRIDE = 64;

const filesOf = (home: string): readonly string[] =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)))
    .toSorted((a, b) => (a < b ? -1 : 1));

/** Each file missing, and each zeroed, flipped and truncated at every 64th byte; zeros that are zeroed are left out. */
export const allDamages = (home: string): readonly Damage[] =>
  filesOf(home).flatMap((file) => {
    const bytes = readFileSync(join(home, file));
    const places = Array.from({ length: Math.ceil(bytes.length / STRIDE) }, (_, i) => i * STRIDE);
    const isZero = (at: number): boolean => bytes.subarray(at, at + STRIDE).every((byte) => byte === 0);
    return [
      { file, how: 'missing' as const, at: 0 },
      ...places.flatMap((at) =>
        HOWS.filter((how) => how !== 'missing' && !(how === 'zeroed' && isZero(at))).map((how) => ({
          file,
          how,
          at,
        })),
      ),
    ];
  });

/** Copies a home and damages the copy. */
export const damagedCopy = (whole: string, copy: string, { file, how, at }: Damage): void => {
  cpSync(whole, copy, { recursive: true });
  const path = join(copy, file);
  if (how === 'missing') {
    rmSync(path);
    return;
  }
  const bytes = readFileSync(path);
  if (how === 'zeroed') bytes.fill(0, at, Math.min(at + STRIDE, bytes.length));
  if (how === 'flipped') bytes[at] = (bytes[at] as number) ^ (1 << ((at / STRIDE) % 8));
  // In place, as a disk does it: the file stays the same one.
  writeFileSync(path, how === 'truncated' ? bytes.subarray(0, at) : bytes, { flag: 'r+' });
  if (how === 'truncated') writeFileSync(path, bytes.subarray(0, at));
};

/** Puts the file back as it was. */
export const restore = (whole: string, copy: string, { file }: Damage): void => {
  writeFileSync(join(copy, file), readFileSync(join(whole, file)));
};

/** An entry of a segment: whose it is, and which of its history's frames it holds. */
export type SegmentEntry = { readonly from: number; readonly key: string; readonly seq: number };

const MAGIC = Buffer.of(0xc1, 0x53, 0x4d, 0x31);

/** The entries of a whole segment, found by their layout (docs/formats/record.md) and not by Stemma's reader. */
export const entriesOf = (segment: string): readonly SegmentEntry[] => {
  const bytes = readFileSync(segment);
  const next = new Map<string, number>();
  const entries: SegmentEntry[] = [];
  for (let at = 0; at + 14 <= bytes.length && bytes.subarray(at, at + 4).equals(MAGIC);) {
    const keyBytes = bytes.readUInt16BE(at + 8);
    const key = bytes.toString('utf8', at + 14, at + 14 + keyBytes);
    const seq = next.get(key) ?? 0;
    next.set(key, seq + 1);
    entries.push({ from: at, key, seq });
    at += 14 + keyBytes + bytes.readUInt32BE(at + 4);
  }
  return entries;
};

/** The first frame of each history that a damage of its segment touches. */
export const touchedBy = (
  entries: readonly SegmentEntry[],
  { how, at }: Damage,
): ReadonlyMap<string, number> => {
  const end = how === 'zeroed' ? at + STRIDE : how === 'flipped' ? at + 1 : Infinity;
  const touched = new Map<string, number>();
  for (const [i, { from, key, seq }] of entries.entries())
    if (from < end && (entries[i + 1]?.from ?? Infinity) > at && !touched.has(key)) touched.set(key, seq);
  return touched;
};
