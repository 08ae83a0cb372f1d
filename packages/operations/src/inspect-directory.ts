import { lstatSync, readdirSync, readFileSync, statfsSync, type Dirent } from 'node:fs';
import { join, relative } from 'node:path';
import type { Finding } from './finding.ts';

/** Less than this is left on a disk that is about to be full: a group of the log and a batch of rows. */
const LITTLE_SPACE = 64 * 1024 * 1024;
/** Files that are looked at, at most: contents may be millions. */
const MAX_FILES = 20_000;

/** What is worth a word about the files of a home: room, who may read them, and what was put aside. */
export function* inspectDirectory(directory: string): Generator<Finding> {
  yield* findLittleSpace(directory);
  yield* findReadable(directory);
  yield* findPutAside(directory);
}

function* findLittleSpace(directory: string): Generator<Finding> {
  // The parts of a home may be on disks of their own.
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

/** Windows has other permissions: all files there look as if everybody could write them. */
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
  // Behind a closed door the rest does not matter.
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
    // Another process puts it aside at this moment.
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
    return readFileSync(join(folder, 'damage'), 'utf8').trim().slice(0, 200);
  } catch {
    return 'for an unknown reason';
  }
};
