/**
 * Canaries: for each rule a file that breaks it and nothing else. `canaries.long.e2e.test.ts` writes them into a small
 * workspace of their own and demands that the tools report exactly these. A tool that has gone blind fails there.
 */
export type Canary = {
  /** The rule that must report the file. */
  readonly rule: string;
  readonly file: string;
  readonly text: string;
};

const use = (name: string) => `import { a } from '${name}';\nexport const b = a;\n`;

/** Broken import rules, reported by dependency-cruiser. */
export const importCanaries: readonly Canary[] = [
  { rule: 'resolvable', file: 'packages/storage/log/src/missing.ts', text: use('./nowhere.ts') },
  {
    rule: 'resolvable',
    file: 'packages/storage/log/src/inner-by-name.ts',
    text: use('@stemma/events/src/inner.ts'),
  },
  // A file that imports itself: of a longer cycle the tool reports one file, whichever it meets first.
  {
    rule: 'no-cycles',
    file: 'packages/storage/log/src/cycle.ts',
    text: `import * as a from './cycle.ts';\nexport const b = () => a;\n`,
  },
  { rule: 'pure-imports-only-pure', file: 'packages/formats/api/src/impure.ts', text: use('@stemma/log') },
  {
    rule: 'pure-imports-only-pure',
    file: 'packages/formats/api/src/impure-type.ts',
    text: `import { type A } from '@stemma/contents';\nexport type B = A;\n`,
  },
  ...['fs', 'net', 'http', 'os', 'child_process', 'timers', 'perf_hooks', 'worker_threads'].map((name) => ({
    rule: 'pure-touches-nothing',
    file: `packages/domain/history/src/touches-${name}.ts`,
    text: `import * as a from 'node:${name}';\nexport const b = a;\n`,
  })),
  {
    rule: 'pure-touches-nothing',
    file: 'packages/domain/history/src/touches-unprefixed.ts',
    text: `import { readFileSync } from 'fs';\nexport const b = readFileSync;\n`,
  },
  {
    rule: 'pure-touches-nothing',
    file: 'packages/domain/history/src/touches-later.ts',
    text: `export const b = () => import('node:fs/promises');\n`,
  },
  { rule: 'pure-libraries', file: 'packages/domain/events/src/library.ts', text: use('lmdb') },
  {
    rule: 'room-foundation',
    file: 'packages/foundation/merkle/src/up.ts',
    text: use('@stemma/context-tree'),
  },
  { rule: 'room-domain', file: 'packages/domain/history/src/up.ts', text: use('@stemma/model-apis') },
  { rule: 'room-formats', file: 'packages/formats/importers/src/up.ts', text: use('@stemma/row-store') },
  { rule: 'room-rows', file: 'packages/rows/read-models/src/up.ts', text: use('@stemma/log') },
  { rule: 'room-storage', file: 'packages/storage/log/src/up.ts', text: use('@stemma/projector') },
  { rule: 'room-engine', file: 'packages/engine/queries/src/up.ts', text: use('@stemma/home') },
  { rule: 'room-engine', file: 'packages/engine/queries/test/up.unit.test.ts', text: use('@stemma/home') },
  { rule: 'room-home', file: 'packages/home/home/src/up.ts', text: use('@stemma/recorder') },
  { rule: 'room-agents', file: 'packages/agents/recorder/src/up.ts', text: use('@stemma/gateway') },
  {
    rule: 'services-apart',
    file: 'services/gateway/src/other-service.ts',
    text: use('../../cli/src/inner.ts'),
  },
  { rule: 'gateway-runs-alone', file: 'services/inspector/src/gateway.ts', text: use('@stemma/gateway') },
  { rule: 'inspector-sees-little', file: 'services/inspector/src/history.tsx', text: use('@stemma/history') },
  {
    rule: 'front-door',
    file: 'packages/storage/log/src/inner-by-path.ts',
    text: use('../../../domain/events/src/inner.ts'),
  },
  {
    rule: 'front-door',
    file: 'examples/consumer/inner.ts',
    text: use('../../packages/storage/log/src/inner.ts'),
  },
  {
    rule: 'front-door',
    file: 'packages/storage/log/src/inner.test.ts',
    text: use('../../../domain/events/src/inner.ts'),
  },
  {
    rule: 'by-name',
    file: 'packages/storage/log/src/by-path.ts',
    text: use('../../../domain/events/src/index.ts'),
  },
  {
    rule: 'plain-loop',
    file: 'packages/engine/projector/src/faster.ts',
    text: use('@stemma/projector-threads'),
  },
  {
    rule: 'one-door',
    file: 'packages/engine/projector/src/on-demand/counting.ts',
    text: use('../counts/asking.ts'),
  },
  {
    rule: 'one-door',
    file: 'packages/engine/projector/src/counts/asking.ts',
    text: use('../on-demand/counting.ts'),
  },
  { rule: 'kafkajs-in-one-place', file: 'packages/storage/log-kafka/src/kafka.ts', text: use('kafkajs') },
  { rule: 'tests-are-leaves', file: 'packages/home/home/src/kit.ts', text: use('@stemma/test-kit') },
  {
    rule: 'tests-are-leaves',
    file: 'packages/storage/log/src/suite.ts',
    text: use('@stemma/row-store/contract'),
  },
];

const pure = (name: string, statement: string) => ({
  file: `packages/domain/history/src/${name}.ts`,
  text: `export const b = ${statement};\n`,
});

/** Broken lint rules, reported by ESLint. */
export const lintCanaries: readonly Canary[] = [
  { rule: 'no-restricted-properties', ...pure('clock', 'Date.now()') },
  { rule: 'no-restricted-syntax', ...pure('clock-object', 'new Date()') },
  { rule: 'no-restricted-syntax', ...pure('clock-text', 'Date()') },
  { rule: 'no-restricted-properties', ...pure('chance', 'Math.random()') },
  { rule: 'no-restricted-globals', ...pure('chance-bytes', 'crypto.randomUUID()') },
  {
    rule: 'no-restricted-syntax',
    file: 'packages/domain/history/src/chance-import.ts',
    text: `import { randomUUID } from 'node:crypto';\nexport const b = randomUUID();\n`,
  },
  { rule: 'no-restricted-globals', ...pure('stopwatch', 'performance.now()') },
  { rule: 'no-restricted-globals', ...pure('environment', 'process.env') },
  { rule: 'no-restricted-globals', ...pure('timer', 'setTimeout(() => undefined, 1)') },
  { rule: 'no-restricted-globals', ...pure('network', "fetch('/')") },
  { rule: 'no-restricted-globals', ...pure('print', "() => {\n  console.log('folded');\n}") },
  { rule: 'no-restricted-properties', ...pure('collation', "'a'.localeCompare('b')") },
  { rule: 'no-restricted-globals', ...pure('formats', 'new Intl.Collator()') },
  { rule: 'no-restricted-properties', ...pure('number-text', '(1).toLocaleString()') },
  { rule: 'no-restricted-properties', ...pure('lower', "'A'.toLocaleLowerCase()") },
  {
    rule: '@typescript-eslint/require-array-sort-compare',
    file: 'packages/storage/log/src/sorted.ts',
    text: `export const b = ['b', 'a'].sort();\n`,
  },
  {
    rule: 'no-restricted-syntax',
    file: 'packages/domain/history/src/sorted-anything.ts',
    text: `export const b = new Uint8Array(2).sort();\n`,
  },
  {
    rule: 'no-restricted-syntax',
    file: 'packages/storage/log/src/barrel.ts',
    text: `export * from './inner.ts';\n`,
  },
  ...['domain/history', 'storage/log'].map((folder) => ({
    rule: 'no-restricted-syntax',
    file: `packages/${folder}/src/default-event.ts`,
    text: `export const b = (c: { type: string }): boolean => {\n  switch (c.type) {\n    case 'NodeInserted':\n      return true;\n    default:\n      return false;\n  }\n};\n`,
  })),
  ...[
    "import { readFileSync } from 'node:fs';\nexport const b = readFileSync;\n",
    "import { open } from 'node:fs/promises';\nexport const b = open;\n",
    "import * as fs from 'node:fs';\nexport const b = fs.openSync;\n",
  ].map((text, i) => ({
    rule: 'no-restricted-imports',
    file: `packages/storage/log/src/opens-${i}.ts`,
    text,
  })),
  {
    rule: 'no-restricted-imports',
    file: 'services/gateway/src/opens.ts',
    text: "import { createReadStream } from 'fs';\nexport const b = createReadStream;\n",
  },
  {
    rule: 'default-case-last',
    file: 'packages/storage/log/src/default-first.ts',
    text: `export const b = (c: string): number => {\n  switch (c) {\n    default:\n      return 1;\n    case 'x':\n      return 2;\n  }\n};\n`,
  },
  {
    rule: 'max-lines-per-function',
    file: 'packages/storage/log/src/long.ts',
    text: `export const b = (): number => {\n${'  //\n'.repeat(118)}  return 1;\n};\n`,
  },
  ...['get(WIDE, key)', 'put(WIDE, key, value)', 'remove(WIDE, key)', 'range(WIDE, { prefix: key })'].map(
    (call, i) => ({
      rule: 'rows/columns-have-names',
      file: `packages/rows/read-models/src/cells-${i}.ts`,
      text: `type Rows = Record<'get' | 'put' | 'remove' | 'range', (table: object, ...cells: unknown[]) => unknown>;\nconst WIDE = { about: 'a', key: [['a', 'text']], value: [['b', 'uint'], ['c', 'uint'], ['d', 'uint'], ['e', 'uint']] } as const;\nexport const b = (rows: Rows, key: unknown, value: unknown): unknown => [rows.${call}, value];\n`,
    }),
  ),
  // Proves that ESLint knows types: without them no rule could see this.
  {
    rule: '@typescript-eslint/no-floating-promises',
    file: 'packages/storage/log/src/floating.ts',
    text: `export function b(): void {\n  Promise.resolve(1);\n}\n`,
  },
  {
    rule: '@typescript-eslint/switch-exhaustiveness-check',
    file: 'packages/storage/log/src/unanswered.ts',
    text: `export function b(kind: 'x' | 'y'): number {\n  switch (kind) {\n    case 'x':\n      return 1;\n  }\n  return 2;\n}\n`,
  },
];

/** Broken types, reported by the compiler. */
export const typeCanaries: readonly Canary[] = [
  { rule: 'TS2322', file: 'packages/storage/log/src/wrong.ts', text: `export const b: number = 'one';\n` },
  { rule: 'TS1294', file: 'packages/storage/log/src/not-erasable.ts', text: `export enum B {\n  One,\n}\n` },
  {
    rule: 'TS1484',
    file: 'packages/storage/log/src/type-as-value.ts',
    text: `import { A } from './inner.ts';\nexport type B = A;\n`,
  },
  {
    rule: 'TS18048',
    file: 'packages/storage/log/src/unchecked-index.ts',
    text: `export const b = (list: { c: number }[]): number => {\n  const first = list[0];\n  return first.c;\n};\n`,
  },
  {
    rule: 'TS2375',
    file: 'packages/storage/log/src/inexact-optional.ts',
    text: `export const b = (c: string | undefined): { c?: string } => {\n  const d: { c?: string } = { c };\n  return d;\n};\n`,
  },
];
