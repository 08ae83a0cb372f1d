import { fail } from '@stemma/errors';
import type { RerunPageReport } from '@stemma/reports';
import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { text } from '../options.ts';

export const REPORT_OPTION: readonly [syntax: string, description: string] = [
  '--report <file>',
  'a file for the report as a self-contained page',
];

/**
 * The file for the report as a page; undefined: nobody wants one. It is asked for before the command runs, which may cost much.
 *
 * @throws E_USAGE for a file in a folder that is not there
 */
export const reportFile = (options: Readonly<Record<string, unknown>>): string | undefined => {
  const file = text(options, 'report');
  if (file === undefined) return undefined;
  const folder = dirname(resolve(file));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw fail('E_USAGE', `--report: the folder ${JSON.stringify(folder)} is not there`);
  return resolve(file);
};

/** Writes the report as a page that only its owner reads: it holds what the agent said and heard. */
export const writeReport = async (
  file: string,
  report: RerunPageReport,
  say: (sentence: string) => void,
): Promise<void> => {
  const { rerunPage } = await import('@stemma/reports');
  await writeFile(file, rerunPage(report), { mode: 0o600 });
  say(`wrote ${file}`);
};
