import { sha256Hex } from '@stemma/canonical';
import type { FileContents } from '@stemma/events';
import { readRegularFile } from '@stemma/machine';
import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ListedFiles } from './list-files.ts';
import type { FoundFile, WorkspaceLimits } from './types.ts';

/** What was found under a path, and what its inode said then: a file whose inode says the same is not read again. */
type KnownFile = FoundFile & { readonly inode: string; readonly isSettled: boolean };

/** Files by their paths, and the bytes that are kept, by their hashes. */
export type KnownFiles = {
  files: ReadonlyMap<string, KnownFile>;
  readonly bytes: Map<string, Uint8Array>;
  /** How many bytes are kept. */
  size: number;
};

export const newKnownFiles = (): KnownFiles => ({ files: new Map(), bytes: new Map(), size: 0 });

/** What a look at all files found. */
export type ScannedFiles = {
  readonly files: ReadonlyMap<string, KnownFile>;
  readonly repositories: readonly string[];
  readonly left: number;
};

/** So many milliseconds a file system may give two changes one time: what is younger is read again by the next look. */
const TICK = 50;

/** Looks at each file, and reads those that are not as they were. What is read stays in `known.bytes`, as far as there is room. */
export const scanFiles = (
  root: string,
  { paths, unnamed }: ListedFiles,
  known: KnownFiles,
  limits: WorkspaceLimits,
): ScannedFiles => {
  const startedAt = Date.now();
  const files = new Map<string, KnownFile>();
  const repositories: string[] = [];
  const isWithin = openFolders(root);
  let left = unnamed;
  for (const path of paths) {
    if (!isWithin(dirname(path))) continue;
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stats === undefined) continue;
    if (stats.isDirectory()) {
      repositories.push(path);
      continue;
    }
    if (!stats.isFile() && !stats.isSymbolicLink()) continue;
    if (files.size >= limits.files) {
      left++;
      continue;
    }
    const inode = inodeOf(stats);
    const before = known.files.get(path);
    const isSettled = Math.max(stats.mtimeMs, stats.ctimeMs) < startedAt - TICK;
    const isKnown = before?.inode === inode && before.isSettled;
    const found = isKnown ? before : readFile(join(root, path), stats, known, limits);
    files.set(path, isKnown ? before : { ...found, inode, isSettled });
  }
  return { files, repositories, left };
};

/** True for folders that no symbolic link leads out of the workspace to. */
const openFolders = (root: string): ((folder: string) => boolean) => {
  const known = new Map<string, boolean>([['.', true]]);
  const isWithin = (folder: string): boolean => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const is =
      isWithin(dirname(folder)) &&
      lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() === true;
    known.set(folder, is);
    return is;
  };
  return isWithin;
};

const inodeOf = ({ ino, size, mtimeMs, ctimeMs, mode }: Stats): string =>
  `${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode}`;

const readFile = (path: string, stats: Stats, known: KnownFiles, limits: WorkspaceLimits): FoundFile => {
  const mode = stats.isSymbolicLink() ? '120000' : (stats.mode & 0o100) === 0 ? '100644' : '100755';
  if (stats.size > limits.hashed)
    return { state: { sha256: null, size: stats.size, mode }, contents: 'large' };
  let bytes: Uint8Array;
  try {
    bytes = stats.isSymbolicLink()
      ? readlinkSync(path, { encoding: 'buffer' })
      : readRegularFile(path, limits.hashed);
  } catch {
    return { state: { sha256: null, size: stats.size, mode }, contents: 'unread' };
  }
  const sha256 = sha256Hex(bytes);
  return { state: { sha256, size: bytes.length, mode }, contents: keep(sha256, bytes, known, limits) };
};

const keep = (
  sha256: string,
  bytes: Uint8Array,
  known: KnownFiles,
  limits: WorkspaceLimits,
): FileContents => {
  if (bytes.length > limits.kept) return 'large';
  if (known.bytes.has(sha256)) return 'kept';
  if (known.size + bytes.length > limits.total) return 'full';
  // A small file read lies in memory that it shares with others.
  known.bytes.set(sha256, Uint8Array.from(bytes));
  known.size += bytes.length;
  return 'kept';
};
