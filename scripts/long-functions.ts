import type { Linter } from 'eslint';

/** Lines of a function, with those that are blank or a comment: what fits on two screens. */
export const MOST_LINES = 120;

/**
 * Functions that are longer, by the file they are in: at most one a file. The list only shrinks: a test fails when one of them
 * has become short enough.
 */
export const longFunctions: Readonly<Record<string, string>> = {
  'services/gateway/test/fixture-home.ts': 'fixtureHome',
};

const rule = (max: number): Linter.RulesRecord => ({
  'max-lines-per-function': ['error', { max, skipBlankLines: false, skipComments: false, IIFEs: true }],
});

/** What ESLint says of functions that are too long. Suites of tests are lists of short functions. */
export const shortFunctions: Linter.Config[] = [
  {
    files: ['**/*.ts', '**/*.tsx'],
    ignores: ['**/*.test.ts', '**/contract.ts', '**/contract/**'],
    rules: rule(MOST_LINES),
  },
  { files: Object.keys(longFunctions), rules: { 'max-lines-per-function': 'off' } },
];
