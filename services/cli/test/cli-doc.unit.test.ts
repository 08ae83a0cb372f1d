import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { expect, test } from 'vitest';
import { COMMANDS } from '../src/catalogue.ts';
import { listCommands } from './list-commands.ts';

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
