import { fail } from '@stemma/errors';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { text } from './options.ts';

/** Options that name a file to write. */
const OUTPUTS = ['out', 'output', 'html'] as const;

/**
 * Refuses a command that would write its answer over a file of its home, or into one of its folders: `--out` with the path of a
 * segment is the end of the log. A new file beside those of the home is the user's own.
 *
 * @throws E_USAGE
 */
export const refuseOwnFiles = (directory: string, options: Readonly<Record<string, unknown>>): void => {
  for (const name of OUTPUTS) {
    const given = text(options, name);
    if (given === undefined) continue;
    const place = relative(realPath(directory), realPath(resolve(given)));
    if (isAbsolute(place) || place === '..' || place.startsWith(`..${sep}`)) continue;
    if (!place.includes(sep) && !existsSync(resolve(given))) continue;
    throw fail('E_USAGE', `--${name} ${JSON.stringify(given)} is a place of the home: name a file elsewhere`);
  }
};

/** Where a path leads, also one that ends in what is not there yet. */
const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
};
