import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { homeFiles } from './scripts/home-files.ts';
import { namedRows } from './scripts/named-rows.ts';
import { shortFunctions } from './scripts/long-functions.ts';
import { defaultForEvents, pureness } from './scripts/pureness.ts';

export default defineConfig(
  globalIgnores([
    '**/node_modules',
    '**/dist',
    '**/coverage',
    '**/.turbo',
    '**/.stemma',
    'scripts/canaries',
    'bench/peers',
  ]),
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // Data is described by `type`, and only by it: one way to say one thing.
      '@typescript-eslint/consistent-type-definitions': ['error', 'type'],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      '@typescript-eslint/require-array-sort-compare': ['error', { ignoreStringArrays: false }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allow: [{ name: ['Error', 'URL'], from: 'lib' }] },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      // A guard against an index out of range is honest under noUncheckedIndexedAccess only if `!` stays rare;
      // in hot loops over flat arrays it is the right tool, so it is a warning in review and not an error here.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Overflows the stack on recursive types such as JSON values (8.73.0); may go when it no longer does.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Its own enums no source has (`erasableSyntaxOnly`); it would take a third of the time of all rules.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      // Ports are asynchronous although their memory adapters need not be.
      '@typescript-eslint/require-await': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'off',
      'default-case-last': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'object-shorthand': 'error',
      'no-restricted-properties': [
        'error',
        {
          object: 'AbortSignal',
          property: 'any',
          message: 'It forgets aborts: use anySignal of @stemma/machine.',
        },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ExportAllDeclaration',
          message: 'List what is exported, one by one: `export *` hides what a package offers.',
        },
        defaultForEvents,
      ],
    },
  },
  ...pureness,
  ...homeFiles,
  ...namedRows,
  ...shortFunctions,
  {
    // Tests build broken values on purpose, and spell out what they know to be there.
    files: [
      '**/*.test.ts',
      '**/*.test.tsx',
      '**/contract.ts',
      '**/contract/**/*.ts',
      'packages/testing/test-kit/**/*.ts',
    ],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs', '**/*.js'],
    rules: { eqeqeq: 'error', 'no-var': 'error', 'prefer-const': 'error' },
  },
);
