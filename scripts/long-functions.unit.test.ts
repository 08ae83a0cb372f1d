import { Linter } from 'eslint';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import tseslint from 'typescript-eslint';
import { expect, test } from 'vitest';
import { longFunctions, shortFunctions } from './long-functions.ts';

const [{ rules = {} } = {}] = shortFunctions;
const linter = new Linter();

/** The name that the last of these lines that begins a definition gives it. */
const nameAbove = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => /^\s*(?:export )?(?:const|(?:async )?function) (\w+)/.exec(line)?.[1] ?? [])
    .at(-1) ?? '';

/** The name of each function of a file that is too long. */
const tooLong = (file: string): readonly string[] => {
  const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
  const lines = text.split('\n');
  return linter
    .verify(
      text,
      [
        {
          files: ['**/*.ts', '**/*.tsx'],
          languageOptions: { parser: tseslint.parser },
          rules,
        },
      ],
      file,
    )
    .filter(({ ruleId }) => ruleId === 'max-lines-per-function')
    .map(({ line }) => nameAbove(lines.slice(0, line)));
};

test('each function that may be longer than others is longer than they may be', () => {
  const found = Object.keys(longFunctions).map((file) => [file, tooLong(file)] as const);
  expect(found).toEqual(Object.entries(longFunctions).map(([file, name]) => [file, [name]]));
});
