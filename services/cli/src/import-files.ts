import { compareCodePoints, sha256Hex } from '@stemma/canonical';
import { fail, nameOfText } from '@stemma/errors';
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What to import: each file once, in order; `-` is stdin. */
export type ImportFiles = {
  readonly files: readonly string[];
  /** Files of folders that are no transcripts, by their names. */
  readonly passedOver: readonly string[];
  /** Folders without a transcript. */
  readonly empty: readonly string[];
};

/** Files of a folder that are read. */
const TRANSCRIPT = /\.(json|jsonl|ndjson|eval|traj|yaml|yml|har|af)(\.gz)?$/i;

/** True for a file that is read where it lies in a folder. */
export const isTranscript = (file: string): boolean => TRANSCRIPT.test(file);

/** Folders are not gone into any deeper than this. */
const MOST_DEPTH = 32;

/**
 * The files that paths name. A folder stands for the transcripts in it and in its folders, by name; links in it are not
 * followed. @param mayBeEmpty files may come later
 *
 * @throws E_IO for a folder that cannot be read or goes too deep, and where there is nothing to import
 */
export const listImportFiles = (paths: readonly string[], mayBeEmpty = false): ImportFiles => {
  const files: string[] = [];
  const passedOver: string[] = [];
  const empty: string[] = [];
  for (const path of paths) {
    if (path === '-' || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
      files.push(path);
      continue;
    }
    const before = files.length;
    walk(path, 0, files, passedOver);
    if (files.length === before) empty.push(path);
  }
  const [folder] = empty;
  if (files.length === 0 && folder !== undefined && !mayBeEmpty)
    throw fail(
      'E_IO',
      `the folder ${folder} holds no file of a transcript (.json, .jsonl, .ndjson, .yaml, .har …; links are not followed)`,
      {
        file: folder,
      },
    );
  return { files: [...new Set(files)], passedOver, empty };
};

const walk = (folder: string, depth: number, files: string[], passedOver: string[]): void => {
  if (depth > MOST_DEPTH) throw fail('E_IO', `${folder} is more than ${MOST_DEPTH} folders deep`);
  const entries = readEntries(folder).sort((a, b) => compareCodePoints(a.name, b.name));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) walk(path, depth + 1, files, passedOver);
    else if (entry.isFile() && TRANSCRIPT.test(entry.name)) files.push(path);
    else passedOver.push(path);
  }
};

const readEntries = (folder: string) => {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw fail(
      'E_IO',
      `the folder ${folder} cannot be read (${(error as NodeJS.ErrnoException).code ?? ''})`,
    );
  }
};

/** The bytes of all files, as far as they are known: what is compressed, or comes from a pipe, counts as its own size or 0. */
export const sizeOf = (file: string): number =>
  file === '-' ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);

/** In bytes of UTF-8: a number finds room behind it. */
const LONGEST_NAME = 100;

/** A text as the name of a history: other characters than names have become hyphens. Undefined: no letter or digit is left. */
export const asName = (text: string): string | undefined => nameOfText(text, LONGEST_NAME);

/**
 * The name of a file without its folder and the endings of transcripts, as the name of a history; `file-` and a hash of it, if
 * there is no letter or digit in it. A pipe has none.
 */
export const nameOfFile = (file: string): string | undefined => {
  if (file === '-' || statSync(file, { throwIfNoEntry: false })?.isFile() === false) return undefined;
  const own = basename(file)
    .replace(/\.gz$/i, '')
    .replace(/\.(json|jsonl|ndjson|eval|traj|yaml|yml|har|af)$/i, '');
  return asName(own) ?? `file-${sha256Hex(Buffer.from(own.normalize())).slice(0, 8)}`;
};
