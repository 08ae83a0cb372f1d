import { fail } from '@stemma/errors';
import { IMPORTERS } from '@stemma/importers';
import type { CommandSpec } from '../command.ts';
import { ERASABLE_OPTIONS, erasableOf } from '../erasable.ts';
import { importFile, type Imported } from '../import-file.ts';
import { text } from '../options.ts';
import { printable, table } from '../output.ts';

export const importCommand: CommandSpec = {
  name: 'import',
  summary: 'record transcripts: one cycle for each model call',
  arguments: [['<files...>', 'JSON or JSONL files or pipes; - reads stdin']],
  options: [
    [
      '--format <name>',
      `the format: ${['auto', ...IMPORTERS.map(({ name }) => name)].join(', ')} (default: auto)`,
    ],
    ['--history <name>', 'the name of the history, for one file only (default: none)'],
    ...ERASABLE_OPTIONS,
    ['--dry-run', 'a report only; nothing is recorded'],
  ],
  run: async ({ home: open, output, stdin, signal, progress: display }, [files], options) => {
    const paths = files as readonly string[];
    const name = text(options, 'history') ?? null;
    if (name !== null && paths.length > 1)
      throw fail(
        'E_USAGE',
        `--history names one history, but ${paths.length} files are given: import them one by one`,
      );
    const dry = options['dryRun'] === true;
    const home = dry ? null : await open({ create: true });
    const imported: Imported[] = [];
    for (const [i, path] of paths.entries()) {
      const progress = display(`bytes of ${paths.length === 1 ? path : `${i + 1}/${paths.length} files`}`);
      try {
        const found = await importFile(home, path, {
          format: text(options, 'format') ?? 'auto',
          name,
          stdin,
          ...erasableOf(options),
          signal,
          onProgress: progress.count,
        });
        imported.push(...found);
      } catch (error) {
        // The document has the error only; what was imported is printed, so that nobody has to look for it.
        for (const { file, history } of dry ? [] : imported) output.say(`${file}: imported as ${history}`);
        throw error;
      } finally {
        progress.end();
      }
      for (const { warnings } of imported.slice(-1))
        for (const warning of warnings) output.say(`${path}: ${warning}`);
    }
    await output.result({ imported }, () => report(imported, dry));
    return undefined;
  },
};

const report = (imported: readonly Imported[], dry: boolean): string =>
  table(
    ['HISTORY', 'CYCLES', 'NODES', 'EVENTS', 'FORMAT', 'FILE'],
    imported.map((row) => [
      dry ? '(dry run)' : row.history,
      String(row.cycles),
      String(row.nodes),
      String(row.events),
      row.format,
      printable(row.file),
    ]),
  ) + imported.map(unknowns).join('');

const unknowns = ({ file, skipped, unknown }: Imported): string =>
  [
    ...Object.entries(skipped).map(([what, n]) => `skipped ${n} × ${what}`),
    ...Object.entries(unknown).map(([what, n]) => `kept ${n} × ${what}, unknown to the format`),
  ]
    .map((line) => `${printable(file)}: ${printable(line)}\n`)
    .join('');
