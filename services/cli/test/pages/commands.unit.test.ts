import { ERRORS } from '@stemma/errors';
import { Command as Commander, CommanderError } from 'commander';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { allCommands } from '../../src/catalogue.ts';
import { register, type CommandSpec } from '../../src/command.ts';
import { commandsOf, wordsOf } from './command-lines.ts';

const COMMANDS = await allCommands();

const ROOT = join(import.meta.dirname, '../../../..');

/** Pages for readers: rules quote other programs, decisions quote the past, and the list of commands shows syntax. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/**/*.md',
  '{packages,services,examples,infra,samples}/**/README.md',
];

const pages = globSync(PAGES, { cwd: ROOT, exclude: (name) => name.includes('node_modules') })
  .filter((file) => !/node_modules|^docs\/(?:decisions|rules)\/|^docs\/cli\.md$/.test(file))
  .toSorted((a, b) => (a < b ? -1 : 1));

/** The command with what it takes, and nothing that it does. */
const onlyParsed = <Spec extends CommandSpec>(spec: Spec): Spec => ({
  ...spec,
  run: () => Promise.resolve(undefined),
  ...(spec.subcommands === undefined ? {} : { subcommands: spec.subcommands.map(onlyParsed) }),
});

/** Says why a command line is refused before it runs; null: it is not. */
const refusal = async (words: readonly string[]): Promise<string | null> => {
  const program = new Commander('stemma')
    .option('--home <directory>')
    .option('--json')
    .version('0')
    .enablePositionalOptions()
    .helpCommand(false)
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined, outputError: () => undefined })
    .exitOverride();
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const around = {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: {},
    signal: new AbortController().signal,
  };
  for (const spec of COMMANDS) register(program, onlyParsed(spec), around, () => undefined);
  program.command('help').argument('[command...]');
  return program.parseAsync(words, { from: 'user' }).then(
    () => null,
    (error: unknown) => (error instanceof CommanderError && error.exitCode === 0 ? null : String(error)),
  );
};

test.each(pages)('%s shows only commands that there are, with options that they take', async (page) => {
  const refused: string[] = [];
  for (const { line, words, isInline } of commandsOf(readFileSync(join(ROOT, page), 'utf8'))) {
    const why = await refusal(words);
    // In a sentence a command is spoken of: what it needs may be left out there, and what it does not know may not.
    if (isInline && (words.includes('…') || /missing/.test(why ?? ''))) continue;
    if (why !== null) refused.push(`${line}: stemma ${words.join(' ')}: ${why}`);
  }
  expect(refused).toEqual([]);
});

test('pages show hundreds of commands, all of which are seen', () => {
  const seen = pages.flatMap((page) => commandsOf(readFileSync(join(ROOT, page), 'utf8')));
  expect(seen.length).toBeGreaterThan(250);
});

test('examples and advice name only commands that there are, with options that they take', async () => {
  const advice = Object.values(ERRORS).flatMap((row) =>
    Object.values(row as object).filter((each) => typeof each === 'string'),
  );
  const lines = [
    ...COMMANDS.map(({ example }) => example.replace(/^.*?stemma /, '')),
    ...advice.flatMap((text) => [...text.matchAll(/`stemma ([^`]+)`/g)].map(([, rest = '']) => rest)),
  ];
  const refused: string[] = [];
  for (const line of lines) {
    const words = wordsOf(line);
    const why = words.includes('…') ? null : await refusal(words);
    if (why !== null && !/missing/.test(why)) refused.push(`stemma ${line}: ${why}`);
  }
  expect(refused).toEqual([]);
  expect(lines.length).toBeGreaterThan(COMMANDS.length);
});

test('a line is split into words as a shell does it, and ends before a comment, a pipe or a redirection', () => {
  expect(wordsOf(` select mine "@c7 .cb[role='tool']" 'a b' c\\ d > out # why`)).toEqual([
    'select',
    'mine',
    "@c7 .cb[role='tool']",
    'a b',
    'c d',
  ]);
  expect(wordsOf(' calls mine | head')).toEqual(['calls', 'mine']);
});

test('a command that is unknown, or an option, is seen on a page', async () => {
  const page = 'Use `stemma nosuch x`.\n```\n$ ./stemma calls mine --nosuch   # a comment\n```\n';
  const why = await Promise.all(commandsOf(page).map(({ words }) => refusal(words)));
  expect(why).toEqual([expect.stringContaining('nosuch'), expect.stringContaining('--nosuch')]);
});
