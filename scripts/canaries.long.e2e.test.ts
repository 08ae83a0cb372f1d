import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Canary, importCanaries, lintCanaries, typeCanaries } from './canaries.ts';
import { importRules } from './import-rules.ts';
import { packageFolders } from './layers.ts';

const root = join(import.meta.dirname, '..');
const tool = (name: string) => join(root, 'node_modules', '.bin', name);
const runFile = promisify(execFile);
let workspaces: string;

beforeAll(() => {
  workspaces = realpathSync(mkdtempSync(join(tmpdir(), 'stemma-canaries-')));
});
afterAll(() => {
  rmSync(workspaces, { recursive: true, force: true });
});

describe('each rule has a canary, and the tool reports it', () => {
  it('import rules: dependency-cruiser reports exactly the canaries', async () => {
    const workspace = plant('imports', importCanaries);
    const { stdout } = await run(workspace, 'depcruise', [
      ...['packages', 'services', 'examples'],
      ...['--config', join(root, '.dependency-cruiser.mjs')],
      ...['--output-type', 'json'],
    ]);
    const report = JSON.parse(stdout) as {
      summary: { violations: { from: string; rule: { name: string } }[] };
    };
    const reported = report.summary.violations.map(({ from, rule }) => `${rule.name} ${from}`);

    expect(distinct(reported)).toEqual(expect.arrayContaining(named(importCanaries)));
    expect(distinct(report.summary.violations.map(({ from }) => from))).toEqual(
      distinct(importCanaries.map(({ file }) => file)),
    );
  });

  it('import rules: each of them has a canary', () => {
    const rules = importRules.forbidden.flatMap(({ name }) => name ?? []);
    // The test kit imports everything but services, which `services-apart` guards.
    const seenByOthers = new Set(['room-testing']);

    expect(distinct(importCanaries.map(({ rule }) => rule))).toEqual(
      distinct(rules.filter((name) => !seenByOthers.has(name))),
    );
  });

  it('lint rules: ESLint reports exactly the canaries', async () => {
    const workspace = plant('lint', lintCanaries);
    const { stdout } = await run(workspace, 'eslint', [
      '.',
      ...['--config', join(root, 'eslint.config.ts')],
      ...['--format', 'json'],
    ]);
    const report = JSON.parse(stdout) as { filePath: string; messages: { ruleId: string | null }[] }[];
    const reported = report.flatMap(({ filePath, messages }) =>
      messages.map(({ ruleId }) => `${ruleId ?? 'unreadable'} ${relative(workspace, filePath)}`),
    );

    expect(distinct(reported)).toEqual(named(lintCanaries));
  });

  it('types: the compiler reports exactly the canaries', async () => {
    const workspace = plant('types', typeCanaries);
    const { stdout } = await run(workspace, 'tsc', ['--pretty', 'false']);
    const reported = [...stdout.matchAll(/^(\S+)\(\d+,\d+\): error (TS\d+)/gm)].map(
      ([, file, code]) => `${code} ${file}`,
    );

    expect(distinct(reported)).toEqual(named(typeCanaries));
  });

  it('unused code: knip reports a forgotten file and a forgotten export', async () => {
    const workspace = plant('unused', [
      { rule: 'files', file: 'packages/storage/log/src/forgotten.ts', text: 'export const b = 1;\n' },
      {
        rule: 'exports',
        file: 'packages/storage/log/src/half-used.ts',
        text: 'export const a = 1;\nexport const b = 2;\n',
      },
    ]);
    writeFileSync(
      join(workspace, 'packages/storage/log/src/index.ts'),
      `export { a } from './half-used.ts';\n`,
    );
    const { stdout } = await run(workspace, 'knip', [
      ...['--config', join(root, 'knip.json')],
      ...['--reporter', 'json'],
      ...['--include', 'files,exports', '--workspace', 'packages/storage/log'],
    ]);
    const report = JSON.parse(stdout) as {
      issues: { file: string; files?: unknown[]; exports?: { name: string }[] }[];
    };

    expect(stdout).toContain('forgotten.ts');
    expect(
      report.issues.flatMap(({ file, exports = [] }) => exports.map(({ name }) => `${file} ${name}`)),
    ).toEqual(['packages/storage/log/src/half-used.ts b']);
  });

  it('format: prettier reports a file that is not formatted', async () => {
    const workspace = plant('format', [
      { rule: '', file: 'packages/storage/log/src/wide.ts', text: 'export const b = "1"\n' },
    ]);
    const { stdout } = await run(workspace, 'prettier', [
      '--list-different',
      'packages/storage/log/src/wide.ts',
    ]);

    expect(stdout.trim()).toBe('packages/storage/log/src/wide.ts');
  });
});

/** A workspace like ours in which every package offers `a` and `A` and has an inner file; and in it the canaries. */
function plant(name: string, canaries: readonly Canary[]): string {
  const workspace = join(workspaces, name);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(workspace, file)), { recursive: true });
    writeFileSync(join(workspace, file), text);
  };
  const link = (target: string, as: string) => {
    mkdirSync(dirname(join(workspace, as)), { recursive: true });
    symlinkSync(target, join(workspace, as));
  };
  for (const file of ['tsconfig.json', 'pnpm-workspace.yaml', 'package.json', '.prettierrc.json']) {
    cpSync(join(root, file), join(workspace, file));
  }
  const offer = 'export const a = 1;\nexport type A = typeof a;\n';
  for (const folder of [...packageFolders, ...['gateway', 'cli'].map((s) => `services/${s}`)]) {
    const id = `@stemma/${folder.replace(/^.*\//, '')}`;
    const exports = { '.': './src/index.ts', './contract': './src/contract.ts' };
    write(`${folder}/package.json`, JSON.stringify({ name: id, type: 'module', exports }));
    for (const file of ['index', 'contract', 'inner']) write(`${folder}/src/${file}.ts`, offer);
    link(join(workspace, folder), `node_modules/${id}`);
  }
  for (const library of ['lmdb', 'kafkajs']) {
    write(`node_modules/${library}/package.json`, JSON.stringify({ name: library, exports: './index.js' }));
    write(`node_modules/${library}/index.js`, offer);
  }
  for (const library of ['@types/node', 'vitest', 'typescript', 'prettier']) {
    link(realpathSync(join(root, 'node_modules', library)), `node_modules/${library}`);
  }
  for (const { file, text } of canaries) write(file, text);
  return workspace;
}

/** Most of the tools end with a code other than 0 when they find something; here they are meant to. */
async function run(cwd: string, name: string, args: string[]): Promise<{ stdout: string }> {
  try {
    return await runFile(tool(name), args, { cwd, maxBuffer: 1 << 26 });
  } catch (error) {
    if (
      error instanceof Error &&
      'stdout' in error &&
      typeof error.stdout === 'string' &&
      error.stdout !== ''
    ) {
      return { stdout: error.stdout };
    }
    throw error;
  }
}

function named(canaries: readonly Canary[]): string[] {
  return distinct(canaries.map(({ rule, file }) => `${rule} ${file}`));
}

function distinct(lines: readonly string[]): string[] {
  return [...new Set(lines)].sort((a, b) => (a < b ? -1 : 1));
}
