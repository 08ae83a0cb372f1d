import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the command of the package names nothing that an old Node.js lacks before it says which one it needs', () => {
  const text = readFileSync(join(import.meta.dirname, '../bin/stemma.mjs'), 'utf8');
  // A name that a module does not export ends the program before its first line.
  expect(text.match(/^import .*$/gm)).toEqual(["import module from 'node:module';"]);
});
