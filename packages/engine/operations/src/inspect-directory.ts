import { findGone } from '@stemma/privacy';
import { readRegularFile } from '@stemma/machine';
import { lstatSync, readdirSync, statfsSync, type Dirent } from 'node:fs';
import { join, relative } from 'node:path';
import type { Finding } from './finding.ts';

/** Bytes. A disk with less free space is nearly full: one group of the log and one batch of rows may need as much. */
const LITTLE_SPACE = 64 * 1024 * 1024;
/** The most files to look at; a home may have millions of contents. */
const MAX_FILES = 20_000;

/** Findings about the files of a home: free space, permissions, files that are gone, and files that were put aside. */
export function* inspectDirectory(directory: string): Generator<Finding> {
  yield* findLittleSpace(directory);
  yield* findReadable(directory);
  for (const file of findGone(directory))
    yield {
      level: 'error',
      message:
        `${file} is missing, and this home has used it: put it back from a copy; to go on without it, or with a new one, ` +
        `delete its note in the folder noted of the home`,
    };
  yield* findPutAside(directory);
}

function* findLittleSpace(directory: string): Generator<Finding> {
  // The parts of a home may be on different disks.
  for (const part of ['log', 'contents', 'rows', 'rows-kafka']) {
    const folder = join(directory, part);
    const left = spaceLeft(folder);
    if (left === undefined || left >= LITTLE_SPACE) continue;
    yield {
      level: 'warning',
      message: `the disk of ${part} has ${(left / 2 ** 20).toFixed(1)} MiB left: make room`,
    };
    return;
  }
}

const spaceLeft = (folder: string): number | undefined => {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
};

/** False on Windows, where every file looks as if everybody could write it. */
const HAS_MODES = process.platform !== 'win32';

function* findReadable(directory: string): Generator<Finding> {
  if (!HAS_MODES) return;
  let readable = 0;
  let first: string | undefined;
  for (const path of filesIn(directory)) {
    const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o077) === 0) continue;
    readable++;
    first ??= relative(directory, path) || '.';
  }
  // If others cannot enter the directory, permissions inside it do not matter.
  const open = (lstatSync(directory, { throwIfNoEntry: false })?.mode ?? 0) & 0o077;
  if (readable === 0) return;
  yield {
    level: open === 0 ? 'note' : 'warning',
    message:
      `${readable} files and folders of the home may be read by other users of this machine (${first}): ` +
      `run \`chmod -R go= HOME\``,
  };
}

function* filesIn(directory: string): Generator<string> {
  const folders = [directory];
  yield directory;
  let count = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of entriesOf(folder)) {
      if (++count > MAX_FILES) return;
      const path = join(folder, entry.name);
      yield path;
      if (entry.isDirectory()) folders.push(path);
    }
}

const entriesOf = (folder: string): Dirent[] => {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Another process is moving the folder at this moment.
    return [];
  }
};

function* findPutAside(directory: string): Generator<Finding> {
  for (const part of ['rows', 'rows-kafka', join('log', 'lock')])
    for (const { name } of entriesOf(join(directory, part))) {
      const path = join(directory, part, name);
      if (!name.startsWith('damaged-')) continue;
      yield {
        level: 'warning',
        message: `${join(part, name)} was damaged (${reasonIn(path)}) and was made anew: check the disk, then delete it`,
      };
    }
}

const reasonIn = (folder: string): string => {
  try {
    return readRegularFile(join(folder, 'damage')).toString().trim().slice(0, 200);
  } catch {
    return 'for an unknown reason';
  }
};
