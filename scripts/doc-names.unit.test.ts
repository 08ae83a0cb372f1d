import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namesIn, PAGES, unknownNames } from './doc-names.ts';

const root = join(import.meta.dirname, '..');

test('every name of code on the pages that explain it is in the source', () => {
  expect(unknownNames(root)).toEqual([]);
});

test('a name that no source has is found', () => {
  // To these sources it is an invented one.
  expect(unknownNames(root, ['CONTRIBUTING.md'], ['eslint.config.ts'])).toContain(
    'CONTRIBUTING.md: keepHomeOpen',
  );
  expect(namesIn('`readNothing(log)`, `NO_FACTS`, `home.askAll`, `a word`, `--option`, `mine@c7`')).toEqual([
    'readNothing',
    'NO_FACTS',
    'askAll',
  ]);
});

test('a pattern of pages or sources that names no file is refused', () => {
  expect(() => unknownNames(root, ['docs/nothing-*.md'])).toThrow('names no file');
  expect(() => unknownNames(root, PAGES, ['nowhere/**/*.ts'])).toThrow('names no file');
});
