import { compareCodePoints } from '@stemma/canonical';
import { fail, reasonOf } from '@stemma/errors';
import { isPresent, readRegularFile, writeOnce } from '@stemma/machine';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Files of a home that are made or written once, and that another one could replace without a word: other labels for the same
 * secret, checkpoints of another key, secrets that no rule takes out any more. Whoever uses such a file writes a note of it, apart
 * from it: from then on its absence is refused.
 */

const NOTES = 'noted';
/** What a note is called; what a writer that was killed has left is called otherwise. */
const NOTE = /^(?:[\w-]|%2F|\.(?![\da-f]{12}$))+$/;

const notePath = (directory: string, file: string): string =>
  join(directory, NOTES, file.replaceAll('/', '%2F'));

/**
 * Reads a file that the home may have had before. The note is looked at first: it is written when the file is there, so who finds
 * the note and no file did not come between the two.
 *
 * @returns undefined: the home has none, and never had one
 * @throws E_FILE_GONE if it had one; what `read` throws
 */
export const readNoted = async <T>(
  directory: string,
  file: string,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  const noted = isNoted(directory, file);
  const found = await read();
  if (found === undefined && noted) throw gone(directory, file);
  return found;
};

/**
 * Notes that the home has a file.
 *
 * @param print tells it from another one, and holds nothing of it that is secret; empty for a file that its owner changes.
 * @throws E_FILE_GONE if another one was noted; E_IO
 */
export const noteFile = (directory: string, file: string, print: string): void => {
  const path = notePath(directory, file);
  try {
    if (!isPresent(path)) writeOnce(path, print);
    if (readRegularFile(path).toString() === print) return;
  } catch (error) {
    throw unusable(path, error);
  }
  throw fail('E_FILE_GONE', `${join(directory, file)} is another one than this home has used`, { file });
};

/** @throws E_IO if nobody can tell */
const isNoted = (directory: string, file: string): boolean => {
  const path = notePath(directory, file);
  try {
    return isPresent(path);
  } catch (error) {
    throw unusable(path, error);
  }
};

const unusable = (path: string, error: unknown): Error =>
  fail('E_IO', `the note ${path} cannot be used: ${reasonOf(error)}`);

/** What is noted of the files of a home: the print of each, by its name. */
export const notesOf = (directory: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    namesIn(directory).map((file) => [file, readRegularFile(notePath(directory, file)).toString()]),
  );

/** The files that were noted and are not there. */
export const findGone = (directory: string): readonly string[] =>
  namesIn(directory).filter((file) => !existsSync(join(directory, file)));

const namesIn = (directory: string): readonly string[] => {
  const folder = join(directory, NOTES);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => NOTE.test(name))
    .map((name) => name.replaceAll('%2F', '/'))
    .sort(compareCodePoints);
};

const gone = (directory: string, file: string): Error =>
  fail('E_FILE_GONE', `${join(directory, file)} is missing, and this home has used it`, { file });
