import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { expect, test } from 'vitest';
import { allCommands, commandsFor } from '../src/catalogue.ts';
import { listCommands } from './list-commands.ts';

const COMMANDS = await allCommands();

test('docs/cli.md lists every command with its present arguments', async () => {
  const page = await format(listCommands(COMMANDS), { parser: 'markdown', printWidth: 110 });
  await expect(page).toMatchFileSnapshot(join(import.meta.dirname, '../../../docs/cli.md'));
});

test('every file of a command is in the catalogue', () => {
  const folder = join(import.meta.dirname, '../src/commands');
  const source = readFileSync(join(import.meta.dirname, '../src/catalogue.ts'), 'utf8');
  const missing = readdirSync(folder).filter((file) => !source.includes(`'./commands/${file}'`));
  expect(missing).toEqual([]);
});

test('a command is in the catalogue by its own name', async () => {
  for (const { name } of COMMANDS)
    expect((await commandsFor([name, '--help'])).map((command) => command.name)).toEqual([name]);
});

test.each([
  [['--json', '--home', 'log', 'calls', 'why'], ['calls']],
  [['--home=x', 'calls'], ['calls']],
  [['--version'], []],
])('%j loads the command that it names, and no other', async (args, names) => {
  expect((await commandsFor(args)).map(({ name }) => name)).toEqual(names);
});

test.each([[[]], [['help', 'calls']], [['--help']], [['cals']], [['constructor']], [['--home']]])(
  '%j loads every command',
  async (args) => {
    expect((await commandsFor(args)).map(({ name }) => name)).toEqual(COMMANDS.map(({ name }) => name));
  },
);
