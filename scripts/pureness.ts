import type { Linter } from 'eslint';
import { pureRooms } from './layers.ts';

const folders = `packages/{${pureRooms.join(',')}}/*/src/**/*.ts`;

const ambient = [
  { name: 'performance', message: 'A pure package has no clock.' },
  { name: 'process', message: 'A pure package does not know the process it runs in.' },
  { name: 'setTimeout', message: 'A pure package has no clock.' },
  { name: 'setInterval', message: 'A pure package has no clock.' },
  { name: 'setImmediate', message: 'A pure package has no clock.' },
  { name: 'queueMicrotask', message: 'A pure package decides no order of execution.' },
  { name: 'fetch', message: 'A pure package has no network.' },
  { name: 'crypto', message: 'A pure package has no randomness; to hash, import `node:crypto`.' },
  { name: 'console', message: 'A pure package prints nothing.' },
  { name: 'Intl', message: 'A pure package has no locale: the same input gives the same bytes everywhere.' },
];

const members = [
  { object: 'Date', property: 'now', message: 'A pure package has no clock: time comes in as a value.' },
  {
    object: 'Math',
    property: 'random',
    message: 'A pure package has no randomness: it comes in as a value.',
  },
  { object: 'globalThis', property: 'crypto', message: 'A pure package has no randomness.' },
  ...['localeCompare', 'toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'].map((property) => ({
    property,
    message: 'A pure package has no locale: compare code units or bytes.',
  })),
  ...['toLocaleLowerCase', 'toLocaleUpperCase'].map((property) => ({
    property,
    message: 'A pure package has no locale: use toLowerCase or toUpperCase.',
  })),
];

/** A `switch` may distinguish events only where each has its own answer; all other code must use the table of facts. */
export const defaultForEvents = {
  selector: 'SwitchCase[test.value=/^[A-Z][a-z]+([A-Z][a-z]+)+$/] ~ SwitchCase:not([test])',
  message:
    'Name every event: a `default` answers for events that nobody has thought of (packages/domain/events).',
};

const syntax = [
  defaultForEvents,
  {
    selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
    message: 'A pure package has no clock: time comes in as a value.',
  },
  {
    selector: 'CallExpression[callee.name="Date"]',
    message: 'A pure package has no clock: time comes in as a value.',
  },
  {
    selector:
      'CallExpression[callee.type="MemberExpression"][callee.property.name=/^(sort|toSorted)$/][arguments.length=0]',
    message: 'Name the order: the default sort compares UTF-16 code units of strings.',
  },
  {
    selector: 'ImportDeclaration[source.value="node:crypto"] > ImportSpecifier[imported.name=/^random/]',
    message: 'A pure package has no randomness.',
  },
];

/** What a pure package must not touch, as ESLint configuration. Imports are the business of dependency-cruiser. */
export const pureness: Linter.Config[] = [
  {
    files: [folders],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': ['error', ...ambient],
      'no-restricted-properties': ['error', ...members],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportAllDeclaration', message: 'List what is exported, one by one.' },
        ...syntax,
      ],
    },
  },
];
