import { StemmaError } from '@stemma/errors';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a client is not told: where on the server's disk something is. */
export type PathHider = {
  /** The text with names in place of the folders of the server. */
  readonly text: (text: string) => string;
  /** The error as a client is told it. One that is no coded error says nothing of itself: the server's output has it. */
  readonly error: (error: unknown) => StemmaError;
};

const SOURCES = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '');

/** @param home the directory of the home that is served */
export const openPathHider = (home: string): PathHider => {
  const homes = new Set([resolve(home), realPath(home)]);
  const named: readonly (readonly [folder: string, name: string])[] = [
    ...[...homes].map((folder) => [folder, '<home>'] as const),
    [SOURCES, '<stemma>'],
    [homedir(), '<user>'],
  ];
  // Folders may lie in each other: the longest says most.
  const folders = named.filter(([folder]) => folder.length > 1).sort(([a], [b]) => b.length - a.length);
  const text = (given: string): string =>
    folders.reduce((shown, [folder, name]) => shown.replaceAll(folder, name), given);
  return {
    text,
    error: (error) => {
      if (!(error instanceof StemmaError)) return new StemmaError('E_INTERNAL', UNFORESEEN);
      const detail = Object.entries(error.detail).map(([key, value]) => [
        key,
        typeof value === 'string' ? text(value) : value,
      ]);
      return new StemmaError(
        error.code,
        text(withoutServerWords(error)),
        Object.fromEntries(detail) as StemmaError['detail'],
        { cause: error },
      );
    },
  };
};

/** What a database says of a statement, in brackets behind our own sentence, names its tables. */
const withoutServerWords = ({ message, detail }: StemmaError): string =>
  'state' in detail ? message.replace(/ \(.*\)$/s, '') : message;

export const UNFORESEEN = 'something went wrong that nobody foresaw; what the server printed says more';

const realPath = (directory: string): string => {
  try {
    return realpathSync(directory);
  } catch {
    return resolve(directory);
  }
};
