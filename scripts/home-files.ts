import type { Linter } from 'eslint';

const message =
  'A file of a home may be a pipe, a folder or a device: open it with openRegularFile, openFileHandle, readRegularFile or ' +
  'replaceFile of @stemma/machine, which refuse those by name.';

/** What opens a file by its path. */
const OPENERS = [
  ...['open', 'readFile', 'writeFile', 'appendFile', 'copyFile'].flatMap((name) => [name, `${name}Sync`]),
  ...['createReadStream', 'createWriteStream'],
];

/** Files that open no file of a home: what users name, what the system says, what is delivered with Stemma. */
const OTHERS = [
  'services/cli/src/{input,import-session,import-source}.ts',
  'services/cli/src/checkpoint/sources.ts',
  'services/cli/src/commands/{compare,experiment,export,interventions,report}.ts',
  'services/cli/src/rerun/report-file.ts',
  'services/gateway/src/page.ts',
  'services/gateway/src/questions-apart/programs.ts',
];

/** There is one way to open a file of a home, as ESLint configuration. */
export const homeFiles: Linter.Config[] = [
  {
    files: ['packages/*/*/src/**/*.ts', 'services/*/src/**/*.ts'],
    ignores: ['**/*.test.ts', 'packages/{storage/machine,testing/test-kit}/**', ...OTHERS],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: ['node:fs', 'node:fs/promises', 'fs', 'fs/promises'].map((name) => ({
            name,
            importNames: OPENERS,
            message,
          })),
        },
      ],
    },
  },
];
