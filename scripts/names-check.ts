/**
 * Refuses two exported types of one name and the words that this repository no longer uses (`old-words.ts`).
 * Exits with 1 after one line for each: `file:line: word: what to say instead`.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { exportedTypes, typesOfOneName } from './exported-types.ts';
import { oldNameUses, oldWordUses, type OldWordUse } from './old-word-uses.ts';

const FILES = [
  '*.{md,ts,mjs,json,yaml}',
  'stemma',
  '.ci/*',
  '{packages,services,bench,examples,scripts,docs,infra}/**/*.{ts,tsx,mjs,md,json,yaml,sh,css,html,svg,toml}',
  'infra/**/Dockerfile',
];
const NOT_READ = [
  ...['**/node_modules/**', '**/dist/**', '**/pnpm-lock.yaml'],
  // The table itself, and a test with made-up faults.
  'scripts/{old-words.ts,names-check.unit.test.ts}',
  // Generated from the titles of tests, which are read where they are written.
  'docs/spec-coverage.md',
  // Recorded bytes and vectors that others published.
  'packages/storage/log/corpus/**',
  'packages/testing/test-kit/vectors/**',
];

/** What is wrong with the names of a checkout: nothing, or one line for each fault. */
export function wrongNames(root: string): string[] {
  const types = exportedTypes(root);
  const files = globSync(FILES, { cwd: root, exclude: NOT_READ }).sort((a, b) => (a < b ? -1 : 1));
  const uses = [
    ...files.flatMap((file) => oldWordUses(file, readFileSync(join(root, file), 'utf8'))),
    ...files.filter(isCode).flatMap((file) => oldNameUses(file, 0, basename(file).replace(/(\.\w+)+$/, ''))),
    ...types.flatMap(({ name, file, line }) => oldNameUses(file, line, name)),
  ];
  return [...typesOfOneName(types), ...uses.map(fault)];
}

function isCode(file: string): boolean {
  return /\.(ts|tsx|mjs|css)$/.test(file);
}

function fault({ file, line, found, say }: OldWordUse): string {
  return `${file}${line === 0 ? '' : `:${line}`}: ${found}: say ${say}.`;
}

if (import.meta.main) {
  const faults = wrongNames(join(import.meta.dirname, '..'));
  for (const line of faults) console.error(line);
  if (faults.length > 0) process.exitCode = 1;
}
