import type { Linter } from 'eslint';

/** Lines of a function, with those that are blank or a comment: what fits on two screens. */
const MOST_LINES = 120;

/** What ESLint says of functions that are too long. Suites of tests are lists of short functions. */
export const shortFunctions: Linter.Config[] = [
  {
    files: ['**/*.ts', '**/*.tsx'],
    ignores: ['**/*.test.ts', '**/contract.ts', '**/contract/**'],
    rules: {
      'max-lines-per-function': [
        'error',
        { max: MOST_LINES, skipBlankLines: false, skipComments: false, IIFEs: true },
      ],
    },
  },
];
