import { compareCodePoints, sha256Hex } from '@stemma/canonical';
import { fail, isStemmaError, nameOfText } from '@stemma/errors';
import { globSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isArchive, listMembers, memberOf } from './archive-source.ts';
import { isServerAddress } from './checkpoint-server.ts';
import { statOf } from './probe-file.ts';

/** What to import: each file once, in order; `-` is stdin. */
export type ImportFiles = {
  readonly files: readonly string[];
  /** Files of folders that are no transcripts, by their names. */
  readonly passedOver: readonly string[];
  /** Folders without a transcript. */
  readonly empty: readonly string[];
};

/** Files of a folder or of an archive that are read. */
const TRANSCRIPT = /\.(json|jsonl|ndjson|eval|traj|yaml|yml|har|af)(\.(gz|zst))?$/i;
/** Read in a folder only: a part of an archive cannot be opened as a database. */
const DATABASE = /\.sqlite3?$/i;
const ARCHIVE = /\.zip$/i;

/** True for a file that is read where it lies in a folder. */
export const isTranscript = (file: string): boolean =>
  [TRANSCRIPT, DATABASE, ARCHIVE].some((ending) => ending.test(file));

/** Folders are not gone into any deeper than this. */
const MOST_DEPTH = 32;

/**
 * The files that paths name. A folder stands for the transcripts in it and in its folders, by name; links in it are not
 * followed. An archive stands for the transcripts in it, `runs.zip/day-1/a.json`, and a pattern that is no file for the files it
 * names. @param mayBeEmpty files may come later
 *
 * @throws E_IO for a folder that cannot be read or goes too deep, and where there is nothing to import
 */
export const listImportFiles = async (paths: readonly string[], mayBeEmpty = false): Promise<ImportFiles> => {
  const files: string[] = [];
  const passedOver: string[] = [];
  const empty: string[] = [];
  for (const path of paths.flatMap(namedBy)) {
    if (path === '-' || !isFolder(path)) {
      await take(path, files, passedOver);
      continue;
    }
    const found: string[] = [];
    walk(path, 0, found, passedOver);
    for (const file of found) await take(file, files, passedOver);
    if (found.length === 0) empty.push(path);
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

/** The transcripts and archives in a folder, by name; none of them is read. @throws E_IO */
export const listFolder = (folder: string): readonly string[] => {
  const files: string[] = [];
  walk(folder, 0, files, []);
  return files;
};

const isFolder = (path: string): boolean => statOf(path)?.isDirectory() === true;

/** The files that a pattern names, where no file has its name. @throws E_IO where it names none */
const namedBy = (path: string): readonly string[] => {
  if (
    path === '-' ||
    isServerAddress(path) ||
    !/[*?[{]/.test(path) ||
    statOf(path) !== undefined ||
    memberOf(path) !== undefined
  )
    return [path];
  const found = globSync(path).sort(compareCodePoints);
  if (found.length === 0) throw fail('E_IO', `no file has a name like ${path}`, { file: path });
  return found;
};

/** Takes a file, or what is in it if it is an archive. */
const take = async (path: string, files: string[], passedOver: string[]): Promise<void> => {
  const members = path !== '-' && !isServerAddress(path) && isArchive(path) ? await membersOf(path) : [];
  const found = members.filter((member) => TRANSCRIPT.test(member));
  // What is wrong with an archive is said when it is read.
  if (found.length === 0) files.push(path);
  else {
    files.push(...found);
    passedOver.push(...members.filter((member) => !TRANSCRIPT.test(member)));
  }
};

const membersOf = async (path: string): Promise<readonly string[]> => {
  try {
    return (await listMembers(path)) ?? [];
  } catch (error) {
    if (isStemmaError(error)) return [];
    throw error;
  }
};

const walk = (folder: string, depth: number, files: string[], passedOver: string[]): void => {
  if (depth > MOST_DEPTH) throw fail('E_IO', `${folder} is more than ${MOST_DEPTH} folders deep`);
  const entries = readEntries(folder).sort((a, b) => compareCodePoints(a.name, b.name));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) walk(path, depth + 1, files, passedOver);
    else if (entry.isFile() && isTranscript(entry.name)) files.push(path);
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
export const sizeOf = (file: string): number => (file === '-' ? 0 : (statOf(file)?.size ?? 0));

/** In bytes of UTF-8: a number finds room behind it. */
const LONGEST_NAME = 100;

/** A text as the name of a history: other characters than names have become hyphens. Undefined: no letter or digit is left. */
export const asName = (text: string): string | undefined => nameOfText(text, LONGEST_NAME);

/**
 * The name of a file without its folder and the endings of transcripts, as the name of a history; `file-` and a hash of it, if
 * there is no letter or digit in it. A pipe has none.
 */
export const nameOfFile = (file: string): string | undefined => {
  if (file === '-' || statOf(file)?.isFile() === false) return undefined;
  const own = basename(file)
    .replace(/\.(gz|zst)$/i, '')
    .replace(/\.(json|jsonl|ndjson|eval|traj|yaml|yml|har|af|sqlite3?)$/i, '');
  return asName(own) ?? `file-${sha256Hex(Buffer.from(own.normalize())).slice(0, 8)}`;
};
