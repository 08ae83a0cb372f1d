import { ERRORS, fail, isStemmaError } from '@stemma/errors';
import { IMPORTERS, type NameConversation } from '@stemma/importers';
import { defined } from '@stemma/values';
import { importBundle, isBundleFile } from '../bundle/import-bundle.ts';
import type { CommandSpec, Context, TopCommand } from '../command.ts';
import { ERASABLE_OPTIONS, erasableOf } from '../erasable.ts';
import { shownPath } from '../checkpoint-server.ts';
import { importFile } from '../import-file.ts';
import type { Imported } from '../import-found.ts';
import { isTranscript, listImportFiles, sizeOf } from '../import-files.ts';
import { importSessionFolder, isSessionFolder } from '../import-session.ts';
import { openNames } from '../import-names.ts';
import { openImportLinks } from '../import-links.ts';
import { openImportRest } from '../import-rest.ts';
import { text } from '../options.ts';
import { discoverImports, pathsOfPrograms, PROGRAM_NAMES, type FoundSessions } from '../session-folders.ts';
import { importReportText, type Refused } from '../import-report.ts';
import { openTrialForks } from '../trial-forks.ts';
import { printable, table } from '../output.ts';
import { changedFiles } from '../changed-files.ts';
import { existsSync, statSync } from 'node:fs';
import { withSmallHeaps } from '../small-heaps.ts';

/** The format of folders with a session of a pool in them. */
const SESSION = 'logosphere';
const NO_FILES = { files: [], passedOver: [], empty: [] } as const;

/** Faults of a file, and not of the home, the machine or the command: the next file may be imported. */
const ofTheFile = (error: unknown): boolean =>
  isStemmaError(error) && !['E_CANCELLED', 'E_USAGE'].includes(error.code) && FILE_CODES.test(error.code);

const FILE_CODES =
  /^E_(INPUT_|BUNDLE_|VECTORS|FORMAT_|ROLE_|CONTENT_|KEY_TOO_LONG|EXPORT_|COMMAND_INVALID|NAME_INVALID|HISTORY_EXISTS|CONFLICT$|NODE_EXISTS$|IO$)/;

export const importCommand: TopCommand = {
  name: 'import',
  summary: 'record transcripts: one cycle for each model call',
  group: 'Record and import',
  place: 2,
  example: "stemma import runs/ --history 'run-{file}'",
  arguments: [
    [
      '[files...]',
      'files of JSON, JSON lines or YAML, also compressed (.gz, .zst), archives (.zip) and folders of them, or pipes; - reads stdin. Also bundles (.stemma), folders of Logosphere sessions, databases of LangGraph (SQLite files, postgres://USER@HOST/DATABASE; PGPASSWORD has the password), and the name of a program that --discover lists: claude, codex …',
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
    [
      '--as-forks',
      'trials of one task, or of several: each further conversation with the same beginning is a branch of the first, where it parts',
    ],
    ['--strict', 'record nothing of a file with a conversation that cannot be read'],
    ['--dry-run', 'a report only; nothing is recorded'],
    ['--discover', 'list what programs of this user keep in their usual places; nothing is read'],
    ['--watch', 'go on: import what changes in the folders, until Ctrl-C'],
  ],
  serves: ({ watch }) => watch === true,
  run: (context, args, options) => withSmallHeaps(() => runImport(context, args, options)),
};

const runImport: CommandSpec['run'] = async (context, [given], options) => {
  const { output, env, signal } = context;
  if (options['discover'] === true) {
    const found = discoverImports(env);
    await output.result({ found }, () => discoveredText(found, output.width));
    return undefined;
  }
  const paths = pathsOfPrograms((given as readonly string[] | undefined) ?? [], env);
  if (paths.length === 0)
    throw fail('E_USAGE', 'name files or folders, or see what there is with --discover');
  const watches = options['watch'] === true;
  const code = await importPaths(context, paths, options);
  if (!watches) return code;
  const folders = paths.filter(
    (path) => path !== '-' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
  );
  if (folders.length < paths.length) throw fail('E_USAGE', '--watch follows folders');
  output.say(`watching ${folders.join(', ')}; Ctrl-C ends it`);
  for await (const changed of changedFiles(folders, signal)) {
    const files = changed.filter((file) => isTranscript(file) && existsSync(file));
    if (files.length > 0) await importPaths(context, files, options);
  }
  return undefined;
};

/** A bundle is imported as it is. @throws E_USAGE */
const refuseForBundle = (file: string, options: Readonly<Record<string, unknown>>): void => {
  for (const [name, option] of [
    ['history', '--history'],
    ['erasable', '--erasable'],
    ['subject', '--subject'],
  ] as const)
    if (options[name] !== undefined)
      throw fail('E_USAGE', `${file} is a bundle, whose histories stay as they are: leave out ${option}`);
};

const discoveredText = (found: readonly FoundSessions[], width: number): string =>
  found.length === 0
    ? `no sessions of ${PROGRAM_NAMES} are in their usual places\n`
    : table(
        ['NAME', 'PROGRAM', 'FILES', 'MB', 'FOLDER'],
        found.map(({ name, program, files, bytes, folder }) => [
          ...[name, program, String(files), (bytes / 1e6).toFixed(1)],
          printable(folder),
        ]),
        width,
      );

/** Names the first conversation as it was asked, and the others as by default. */
const nameOfFirst =
  (given: string, others: ReturnType<ReturnType<typeof openNames>>): NameConversation =>
  (conversation) => {
    if (conversation.index === 0) return given;
    return typeof others === 'function' ? others(conversation) : others;
  };

/** Imports files and folders, and says what they came to. Gives the exit code of the first that is refused. */
const importPaths = async (
  { home: open, reopenHome, output, stdin, signal, progress: display }: Context,
  paths: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<number | undefined> => {
  const format = text(options, 'format') ?? 'auto';
  const watches = options['watch'] === true;
  const sessions = paths.filter((path) => format === SESSION || (format === 'auto' && isSessionFolder(path)));
  const others = paths.filter((path) => !sessions.includes(path));
  const listed = others.length === 0 ? NO_FILES : await listImportFiles(others, watches);
  const { passedOver, empty } = listed;
  const files = [...sessions, ...listed.files];
  const { erasable } = erasableOf(options);
  const asForks = options['asForks'] === true;
  const forks = asForks ? openTrialForks() : undefined;
  const given = text(options, 'history')?.normalize('NFC');
  const names = openNames(
    asForks ? undefined : given,
    // A folder that is watched gets more of them.
    watches ? Infinity : files.length,
    erasable !== undefined,
  );
  /** The name of the history is that of the first trial; the others are named after their files. */
  const nameOf = (file: string): ReturnType<typeof names> =>
    given !== undefined && forks?.tasks() === 0 ? nameOfFirst(given, names(file)) : names(file);
  const dry = options['dryRun'] === true;
  if (!dry) await open({ create: true });
  const rest = openImportRest(reopenHome);
  const links = openImportLinks();
  const imported: Imported[] = [];
  const refused: Refused[] = (watches ? [] : empty).map((folder) => ({
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
    files.length === 1 ? `bytes of ${shownPath(files[0] ?? '')}` : `bytes of ${files.length} files`,
  );
  let done = 0;
  for (const [i, file] of files.entries()) {
    const most = (sizes[i] ?? 0) * 2;
    const shown = shownPath(file);
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
      if (isBundleFile(file)) {
        refuseForBundle(file, options);
        const found = await importBundle(dry ? null : await open(), file, signal);
        if (!watches || !found.repeated) imported.push(found);
        continue;
      }
      const found = await importFile(dry ? null : await open(), file, {
        format,
        name: nameOf(shown),
        stdin,
        ...defined({ erasable, forks }),
        links,
        strict: options['strict'] === true,
        mayGrow: watches,
        rest,
        signal,
        onProgress: (bytes, ofFile) =>
          progress.count(done + (ofFile > 0 ? Math.min(bytes, most) : 0), Math.max(total, done + most)),
      });
      refused.push(...found.refused.map((part) => ({ file: shown, ...part })));
      if (found.imported === undefined || (watches && found.imported.repeated)) continue;
      imported.push(found.imported);
      for (const sentence of found.imported.says) output.say(`${shown}: ${sentence}`);
    } catch (error) {
      // It is written on, and read once more when that is seen.
      if (watches && isStemmaError(error, 'E_INPUT_CHANGED')) continue;
      if ((files.length > 1 || watches) && ofTheFile(error) && isStemmaError(error)) {
        refused.push({ file: shown, place: null, code: error.code, message: error.message });
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
  if (!dry) for (const sentence of await links.record(open)) output.say(sentence);
  for (const { file, code, message } of refused) output.say(`${file}: refused: ${message} (${code})`);
  const beginnings = forks?.tasks() ?? 0;
  if (beginnings > 1) output.say(`the conversations begin in ${beginnings} ways: each is a history`);
  const [first] = refused;
  if (watches && imported.length === 0 && first === undefined) return undefined;
  if (first !== undefined && imported.length === 0 && !watches)
    throw fail(first.code, `none of the ${files.length} files was imported; the first: ${first.message}`);
  await output.result({ imported, refused }, () => importReportText(imported, refused, dry, output.width));
  return first === undefined ? undefined : ERRORS[first.code].exit;
};
