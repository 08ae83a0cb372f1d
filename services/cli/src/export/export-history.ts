import { fail } from '@stemma/errors';
import { openLosses, type Exporter, type Losses } from '@stemma/exporters';
import type { Context } from '../command.ts';
import { printable, type Output } from '../output.ts';
import { exportSource } from './export-source.ts';
import { fileTarget, outputTarget } from './export-target.ts';

/** Writes a history, or one branch of it (`mine:what-if`), in the format of another program. */
export const exportHistory = async (
  { findBranch, output, observe, signal }: Context,
  exporter: Exporter,
  {
    name,
    ref,
    to,
  }: { readonly name: string; readonly ref: string | undefined; readonly to: string | undefined },
): Promise<undefined> => {
  const { files } = exporter;
  if (ref !== undefined)
    throw fail(
      'E_USAGE',
      `--format ${exporter.name} exports a whole history or branch, and takes no position`,
    );
  if (to === undefined && (files.length > 1 || (!exporter.isText && output.isTerminal)))
    throw fail(
      'E_USAGE',
      `name the file: stemma export ${name} --format ${exporter.name} -o mine.${exporter.name}`,
    );
  const { home, branchRef } = await findBranch(name);
  const { source, addLeftOut } = await exportSource(
    home,
    branchRef.history,
    name.includes(':') ? branchRef : null,
  );
  const written: { file: string; bytes: number }[] = [];
  let lost = openLosses();
  for (const { suffix, write } of files) {
    const file = to === undefined ? '-' : withSuffix(to, suffix);
    const target = to === undefined ? outputTarget(output) : await fileTarget(file);
    // Each file names the same losses.
    lost = openLosses();
    try {
      for await (const piece of write(source, lost)) {
        signal.throwIfAborted();
        await target.write(piece);
      }
      written.push({ file, bytes: await target.end() });
      await addLeftOut(lost);
    } catch (error) {
      await target.leave();
      throw error;
    }
  }
  observe(branchRef, 'exported', exporter.name, await home.position(branchRef));
  await sayWritten(output, exporter.name, to === undefined ? [] : written, lost);
  return undefined;
};

/** What was written goes to standard output only if the export itself does not. */
const sayWritten = async (
  output: Output,
  format: string,
  written: readonly { readonly file: string; readonly bytes: number }[],
  lost: Losses,
): Promise<void> => {
  sayLost(output, lost);
  if (written.length === 0) return;
  const counts = Object.fromEntries(lost.list().map(({ what, count }) => [what, count] as const));
  await output.result({ format, files: written, lost: counts }, () =>
    written.map(({ file, bytes }) => `${printable(file)}: ${bytes} bytes\n`).join(''),
  );
};

/** One line on stderr: `lost: thinking ×3`. */
export const sayLost = (output: Output, lost: Losses): void => {
  const all = lost.list();
  if (all.length > 0) output.say(`lost: ${all.map(({ what, count }) => `${what} ×${count}`).join(', ')}`);
};

/** `mine.parquet` with `.calls` before its last dot. */
const withSuffix = (path: string, suffix: string): string => {
  if (suffix === '') return path;
  const dot = path.lastIndexOf('.');
  return dot > path.lastIndexOf('/') + 1 ? path.slice(0, dot) + suffix + path.slice(dot) : path + suffix;
};
