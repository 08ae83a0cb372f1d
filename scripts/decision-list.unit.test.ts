import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decisionList } from './decision-list.ts';
import { foundFiles } from './found-files.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = 'docs/decisions/';
const page = readFileSync(join(ROOT, FOLDER, 'README.md'), 'utf8');
const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ['))
  .map(cellsOf);

test('the list of decisions has a row for each file, with the status and the successors that the file names', () => {
  expect(rows).toEqual(
    decisionList()
      .split('\n')
      .filter((line) => line.startsWith('| ['))
      .map(cellsOf),
  );
  expect(rows).toHaveLength(foundFiles(ROOT, [`${FOLDER}[0-9]*.md`]).length);
});

test('what is not in force names the decision that came after it', () => {
  const files = new Set(foundFiles(ROOT, [`${FOLDER}*.md`]));
  for (const [number, , status, successors = ''] of rows) {
    const named = [...successors.matchAll(/\]\(([^)]+)\)/g)].map(([, file = '']) => FOLDER + file);
    expect({ number, isNamed: named.length > 0 }).toEqual({ number, isNamed: status !== 'in force' });
    for (const file of named) expect(files).toContain(file);
  }
});

test('a number belongs to one decision', () => {
  const numbers = rows.map(([number]) => number?.slice(0, 6));
  expect(new Set(numbers).size).toBe(numbers.length);
});
