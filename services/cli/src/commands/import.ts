import { ERRORS, fail, isStemmaError, type ErrorCode } from '@stemma/errors';
import { IMPORTERS } from '@stemma/importers';
import { defined } from '@stemma/values';
import type { CommandSpec, TopCommand } from '../command.ts';
import { ERASABLE_OPTIONS, erasableOf } from '../erasable.ts';
import { importFile } from '../import-file.ts';
import type { Imported } from '../import-found.ts';
import { listImportFiles, sizeOf } from '../import-files.ts';
import { importSessionFolder, isSessionFolder } from '../import-session.ts';
import { openNames } from '../import-names.ts';
import { openImportRest } from '../import-rest.ts';
import { text } from '../options.ts';
import { printable, table } from '../output.ts';
import { withSmallHeaps } from '../small-heaps.ts';

/** The format of folders with a session of a pool in them. */
const SESSION = 'logosphere';
const NO_FILES = { files: [], passedOver: [], empty: [] } as const;

/** A file of which nothing could be recorded, or, with its place, a conversation of it. */
type Refused = {
  readonly file: string;
  readonly place: string | null;
  readonly code: ErrorCode;
  readonly message: string;
};

/** Faults of a file, and not of the home, the machine or the command: the next file may be imported. */
const ofTheFile = (error: unknown): boolean =>
  isStemmaError(error) && !['E_CANCELLED', 'E_USAGE'].includes(error.code) && FILE_CODES.test(error.code);

const FILE_CODES =
  /^E_(INPUT_|VECTORS|FORMAT_|ROLE_|CONTENT_|KEY_TOO_LONG|EXPORT_|COMMAND_INVALID|NAME_INVALID|HISTORY_EXISTS|IO$)/;

export const importCommand: TopCommand = {
  name: 'import',
  summary: 'record transcripts: one cycle for each model call',
  group: 'Record and import',
  place: 2,
  example: "stemma import runs/ --history 'run-{file}'",
  arguments: [
    [
      '<files...>',
      'files of JSON, JSON lines or YAML, also compressed (.gz), folders of them, or pipes; - reads stdin. Also folders of Logosphere sessions',
    ],
  ],
  options: [
    [
      '--format <name>',
      `the format: ${['auto', ...IMPORTERS.map(({ name }) => name), SESSION].join(', ')} (default: auto)`,
    ],
    [
      '--history <name>',
      'the name of the history; for several, a pattern: {file} is the name of the file, {n} a number (default: what the file says, else its name)',
    ],
    ...ERASABLE_OPTIONS,
    ['--strict', 'record nothing of a file with a conversation that cannot be read'],
    ['--dry-run', 'a report only; nothing is recorded'],
  ],
  run: (context, args, options) => withSmallHeaps(() => runImport(context, args, options)),
};

const runImport: CommandSpec['run'] = async (
  { home: open, reopenHome, output, stdin, signal, progress: display },
  [given],
  options,
) => {
  const format = text(options, 'format') ?? 'auto';
  const paths = given as readonly string[];
  const sessions = paths.filter((path) => format === SESSION || (format === 'auto' && isSessionFolder(path)));
  const others = paths.filter((path) => !sessions.includes(path));
  const listed = others.length === 0 ? NO_FILES : listImportFiles(others);
  const { passedOver, empty } = listed;
  const files = [...sessions, ...listed.files];
  const { erasable } = erasableOf(options);
  const names = openNames(text(options, 'history')?.normalize('NFC'), files.length, erasable !== undefined);
  const dry = options['dryRun'] === true;
  if (!dry) await open({ create: true });
  const rest = openImportRest(reopenHome);
  const imported: Imported[] = [];
  const refused: Refused[] = empty.map((folder) => ({
    file: folder,
    place: null,
    code: 'E_IO',
    message: 'the folder holds no file of a transcript',
  }));
  if (passedOver.length > 0) output.say(`passed over, no transcripts: ${passedOver.join(', ')}`);

  const sizes = files.map((file) => (sessions.includes(file) ? 0 : sizeOf(file)));
  // A file is read twice.
  const total = sizes.reduce((sum, size) => sum + size, 0) * 2;
  const progress = display(
    files.length === 1 ? `bytes of ${files[0] ?? ''}` : `bytes of ${files.length} files`,
  );
  let done = 0;
  for (const [i, file] of files.entries()) {
    const most = (sizes[i] ?? 0) * 2;
    try {
      if (sessions.includes(file)) {
        if (erasable !== undefined) throw fail('E_USAGE', 'a session cannot be imported as erasable');
        const named = names(file);
        const found = await importSessionFolder(dry ? null : await open(), file, {
          name: typeof named === 'string' ? named : null,
          signal,
        });
        imported.push(found);
        for (const sentence of found.says) output.say(`${file}: ${sentence}`);
        continue;
      }
      const found = await importFile(dry ? null : await open(), file, {
        format,
        name: names(file),
        stdin,
        ...defined({ erasable }),
        strict: options['strict'] === true,
        rest,
        signal,
        onProgress: (bytes, ofFile) =>
          progress.count(done + (ofFile > 0 ? Math.min(bytes, most) : 0), Math.max(total, done + most)),
      });
      refused.push(...found.refused.map((part) => ({ file, ...part })));
      if (found.imported === undefined) continue;
      imported.push(found.imported);
      for (const sentence of found.imported.says) output.say(`${file}: ${sentence}`);
    } catch (error) {
      if (files.length > 1 && ofTheFile(error) && isStemmaError(error)) {
        refused.push({ file, place: null, code: error.code, message: error.message });
        continue;
      }
      progress.end();
      // The document has the error only; what was imported is printed, so that nobody has to look for it.
      for (const { file: from, name, history } of dry ? [] : imported)
        output.say(`${from}: imported as ${name ?? history}`);
      throw error;
    } finally {
      done += most;
    }
  }
  progress.end();
  for (const { file, code, message } of refused) output.say(`${file}: refused: ${message} (${code})`);
  const [first] = refused;
  if (first !== undefined && imported.length === 0)
    throw fail(first.code, `none of the ${files.length} files was imported; the first: ${first.message}`);
  await output.result({ imported, refused }, () => report(imported, refused, dry, output.width));
  return first === undefined ? undefined : ERRORS[first.code].exit;
};

const report = (
  imported: readonly Imported[],
  refused: readonly Refused[],
  dry: boolean,
  width: number,
): string =>
  table(
    ['HISTORY', 'CALLS', 'MESSAGES', 'TOOLS', 'CYCLES', 'NODES', 'FORMAT', 'FILE'],
    imported.map((row) => [
      dry ? '(dry run)' : namesOf(row),
      ...[row.calls, row.messages, row.tool_calls, row.cycles, row.nodes].map((count) => String(count ?? '')),
      row.format,
      printable(row.file),
    ]),
    width,
  ) +
  imported.map(fidelityOf).join('') +
  imported.map(unknowns).join('') +
  sumsOf(imported, refused)
    .map((line) => `${line}\n`)
    .join('');

/** The history of a file, and how many further ones there are. */
const namesOf = ({ name, history, conversations }: Imported): string =>
  `${name ?? history}${conversations > 1 ? ` and ${conversations - 1} more` : ''}`;

/** How true the picture of a file of another program is. */
const fidelityOf = ({
  file,
  version,
  fidelity = {},
  missing = {},
  dropped = {},
  unknown,
  skipped,
}: Imported): string => {
  if (Object.keys(unknown).length > 0 || Object.keys(skipped).length > 0) return '';
  const kinds = Object.entries(fidelity).map(([kind, count]) => `${count} ${FIDELITY_WORDS[kind] ?? kind}`);
  const lacks = Object.entries(missing).map(([part, count]) => `${part} of ${count}`);
  const left = Object.entries(dropped).map(([what, count]) => `${count} × ${what}`);
  const says = [
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(kinds.length === 0 ? [] : [`how true its calls are: ${kinds.join(', ')}`]),
    ...(lacks.length === 0 ? [] : [`missing: ${lacks.join(', ')}`]),
    ...(left.length === 0 ? [] : [`left out: ${left.join(', ')}`]),
  ];
  return says.length === 0 ? '' : `${printable(file)}: ${printable(says.join('; '))}\n`;
};

const FIDELITY_WORDS: Readonly<Record<string, string>> = {
  exact: 'exact bytes',
  same: 'same messages',
  reconstructed: 'reconstructed',
};

const sumsOf = (imported: readonly Imported[], refused: readonly Refused[]): readonly string[] => {
  const repeated = imported
    .flatMap((each) => each.histories ?? [each])
    .filter(({ repeated: before }) => before).length;
  const all = imported.reduce((sum, { conversations: count }) => sum + count, 0);
  const files = refused.filter(({ place }) => place === null).length;
  const parts = refused.length - files;
  return [
    ...(repeated === 0 ? [] : [`already there: ${conversations(repeated)}`]),
    ...(files === 0
      ? []
      : [`${files} of ${files + new Set(imported.map(({ file }) => file)).size} files were refused`]),
    ...(parts === 0
      ? []
      : [`${parts} of ${conversations(parts + all)} of the imported files could not be read`]),
  ];
};

const conversations = (count: number): string => `${count} ${count === 1 ? 'conversation' : 'conversations'}`;

const unknowns = ({ file, skipped, unknown }: Imported): string =>
  [
    ...Object.entries(skipped).map(([what, n]) => `skipped ${n} × ${what}`),
    ...Object.entries(unknown).map(([what, n]) => `kept ${n} × ${what}, unknown to the format`),
  ]
    .map((line) => `${printable(file)}: ${printable(line)}\n`)
    .join('');
