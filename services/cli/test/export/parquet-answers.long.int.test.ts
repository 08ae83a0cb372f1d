import { cacheFolder } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { stemmaJson, temporaryFolder } from '../run-stemma.ts';
import { atifFile, otlpFile } from './files.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const PAGE = join(import.meta.dirname, '../../../../docs/parquet.md');

/** The version whose answers are compared; it stays in the cache of the tests. */
const DUCKDB = 'duckdb==2.0.1';

/** Where Python finds DuckDB; or why it does not. */
const installDuckdb = async (): Promise<{ readonly path: string } | { readonly missing: string }> => {
  const path = join(cacheFolder(), DUCKDB);
  if (existsSync(path)) return { path };
  mkdirSync(cacheFolder(), { recursive: true });
  const partial = `${path}.${process.pid}`;
  const options = ['--quiet', '--disable-pip-version-check', '--no-compile', '--target', partial, DUCKDB];
  try {
    await promisify(execFile)('python3', ['-m', 'pip', 'install', ...options]);
    renameSync(partial, path);
  } catch (error) {
    return { missing: `DuckDB cannot be installed with pip: ${String(error).slice(0, 300)}` };
  }
  return { path };
};

const ASK = `
import duckdb, json, sys
for question in json.load(sys.stdin):
    found = duckdb.sql(question)
    print(json.dumps([dict(zip(found.columns, row)) for row in found.fetchall()], default=float))
`;

/** What DuckDB answers to each question, in the folder of the files. */
const ask = async (path: string, questions: readonly string[]): Promise<readonly unknown[]> => {
  const asked = promisify(execFile)('python3', ['-c', ASK], {
    cwd: folder.path,
    env: { ...process.env, PYTHONPATH: path },
  });
  asked.child.stdin?.end(JSON.stringify(questions));
  const { stdout } = await asked;
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
};

test('DuckDB answers the questions of the page on Parquet', { timeout: 600_000 }, async ({ skip }) => {
  const duckdb = await installDuckdb();
  if ('missing' in duckdb) return skip(duckdb.missing);
  const home = ['--home', join(folder.path, 'home')];
  for (const [name, file, text] of [
    ['agent', 'agent.json', atifFile()],
    ['spans', 'spans.jsonl', otlpFile()],
  ] as const) {
    writeFileSync(join(folder.path, file), text);
    await stemmaJson(['import', join(folder.path, file), '--history', name, ...home]);
    await stemmaJson([
      'export',
      name,
      '--format',
      'parquet',
      '-o',
      join(folder.path, `${name}.parquet`),
      ...home,
    ]);
  }
  const questions = [...readFileSync(PAGE, 'utf8').matchAll(/```sql\n([\s\S]*?)```/g)].map(
    ([, sql = '']) => sql,
  );
  expect(questions).toHaveLength(5);
  const [costs, caches, tools, room, slow] = await ask(duckdb.path, questions);
  const noPrice = { cost: null, currency: null };
  expect(costs).toEqual([
    { model: 'gpt-x', calls: 4, input: 106, output: 15, ...noPrice },
    { model: 'gpt-y', calls: 1, input: 61, output: null, ...noPrice },
  ]);
  expect(caches).toEqual([
    { history_name: 'agent', percent_cached: 11.9 },
    { history_name: 'spans', percent_cached: 31.8 },
  ]);
  expect(tools).toEqual([{ tool_name: 'depth', results: 4, failed: 1, longest: 12 }]);
  expect(room).toEqual([
    { role: 'user', said: 60, shown: 100 },
    { role: 'system', said: 18, shown: 36 },
    { role: 'tool', said: 21, shown: 21 },
    { role: 'assistant', said: 68, shown: 14 },
  ]);
  // All took as long: they come in any order.
  const call = { history_name: 'spans', model: 'gpt-x', duration_ms: 250 };
  expect(new Set(slow as readonly unknown[])).toEqual(
    new Set([
      { ...call, label: '@c1', asked: 'How deep is it at pier 2?' },
      { ...call, label: '@c2', asked: '7 m' },
      { ...call, label: '@c2', asked: '9 m' },
    ]),
  );
  return undefined;
});
