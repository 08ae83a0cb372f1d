import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { openImportSource } from '../src/import-source.ts';
import { openInput } from '../src/input.ts';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const home = ['--home', join(folder.path, 'home')];
const file = (text: string | Uint8Array): string => {
  const path = join(folder.path, 'input.json');
  writeFileSync(path, text);
  return path;
};
const codeOf = (stdout: string): string => (JSON.parse(stdout) as { error: { code: string } }).error.code;

const { signal } = new AbortController();
const drain = async (source: AsyncIterable<Uint8Array>): Promise<number> => {
  let bytes = 0;
  for await (const chunk of source) bytes += chunk.length;
  return bytes;
};
const endless = (): Readable =>
  Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(1_000, '{"role":"user"}\n');
    })(),
  );

test.each([
  ['its limit', { most: 10_000, free: () => 1e9 }],
  ['half of the free space', { most: 1e9, free: () => 20_000 }],
])('a pipe that gives more than %s is refused, and its copy removed', async (_what, limits) => {
  const before = readdirSync(join(folder.path, '..')).filter((name) => name.startsWith('stemma-import-'));
  {
    using source = openImportSource('-', { stdin: endless(), signal }, limits);
    await expect(drain(source.open())).rejects.toMatchObject({
      code: 'E_INPUT_TOO_LARGE',
      detail: { limit: 10_000 },
    });
  }
  const after = readdirSync(join(folder.path, '..')).filter((name) => name.startsWith('stemma-import-'));
  expect(after.filter((name) => !before.includes(name))).toEqual([]);
});

test('a pipe of exactly its limit is read twice', async () => {
  const limits = { most: 10_000, free: () => 1e9 };
  using source = openImportSource('-', { stdin: Readable.from([Buffer.alloc(10_000, 'x')]), signal }, limits);
  expect([await drain(source.open()), await drain(source.open())]).toEqual([10_000, 10_000]);
});

test('a pipe that a cancelled command never reads keeps no process alive', async () => {
  const fifo = join(folder.path, 'cancelled.fifo');
  expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
  const before = process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
  const { read } = openInput(fifo, { stdin: endless(), signal: AbortSignal.abort(new Error('cancelled')) });
  await expect(drain(read())).rejects.toThrow('cancelled');
  expect(process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap')).toHaveLength(before);
});

test('the argument `-` means stdin', async () => {
  const imported = await stemmaJson(
    ['import', '-', '--history', 'piped', ...home],
    '[{"role":"user","content":"hi"}]',
  );
  expect(imported).toMatchObject({ imported: [{ file: '-', nodes: 1 }] });
});

test.each<[string, string | Uint8Array, string]>([
  ['a key twice', '[{"role":"user","content":"a","content":"b"}]', 'E_INPUT_REPEATED_KEY'],
  [
    'a key twice, once as an escape',
    '{"role":"user","content":1,"\\u0063ontent":2}\n',
    'E_INPUT_REPEATED_KEY',
  ],
  ['a key twice on a later line', '{"role":"user"}\n{"role":"user","role":"user"}', 'E_INPUT_REPEATED_KEY'],
  [
    'a key twice in a long line',
    `[{"role":"user","content":"${'x'.repeat(2e6)}","role":"user"}]`,
    'E_INPUT_REPEATED_KEY',
  ],
  [
    'a key twice in a steps file',
    '{"op":"start","steps":1}\n{"op":"commit","op":"commit"}',
    'E_INPUT_REPEATED_KEY',
  ],
  [
    'a key twice in an export',
    '{"spec_version":"PACT/0.1.0","cycle":0,"cycle":1,"root":{"id":"r","children":[]}}',
    'E_INPUT_REPEATED_KEY',
  ],
  ['8 MB of blanks behind a key that is an escape', `[{"\\n"${' '.repeat(8e6)}:1}]`, 'E_ROLE_UNKNOWN'],
  ['a NUL byte', '[{"role":"user"}\0]', 'E_INPUT_NOT_JSON'],
  ['a NUL byte in a text', '[{"role":"us\0er"}]', 'E_INPUT_NOT_JSON'],
  ['a byte order mark in the middle', '[{"role":"user"},\ufeff{}]', 'E_INPUT_NOT_JSON'],
  ['513 levels', `${'['.repeat(513)}${']'.repeat(513)}`, 'E_INPUT_TOO_DEEP'],
  ['a lone surrogate in a key', '[{"role":"user","\\udc00":1}]', 'E_INPUT_SURROGATE'],
  [
    'a lone surrogate in a long text',
    `[{"role":"user","content":"${'x'.repeat(2e6)}\\udc00"}]`,
    'E_INPUT_SURROGATE',
  ],
  ['10,000 digits', `[{"role":"user","n":${'9'.repeat(10_000)}}]`, 'E_INPUT_NUMBER'],
])('an import of %s is refused with a code, and nothing is recorded', async (_what, text, code) => {
  const { stdout, code: exit } = await runStemma([
    'import',
    file(text),
    '--json',
    '--home',
    join(folder.path, 'none'),
  ]);
  expect(codeOf(stdout)).toBe(code);
  expect(exit).toBe(1);
  expect(
    existsSync(join(folder.path, 'none', 'log', 'p0'))
      ? await stemmaJson(['histories', '--home', join(folder.path, 'none')])
      : [],
  ).toEqual([]);
});

test('an import accepts a line of several megabytes, CRLF and a byte order mark', async () => {
  const long = JSON.stringify({ role: 'user', content: 'x'.repeat(3_000_000) });
  const path = file(`\ufeff${long}\r\n\r\n{"role":"assistant","content":"y"}\r\n${long}`);
  expect(await stemmaJson(['import', path, '--dry-run', ...home])).toMatchObject({
    imported: [{ nodes: 3, cycles: 1 }],
  });
});

test("a repeated key of an engine's log is reported, since the engine reads such lines", async () => {
  const path = file(
    '{"_type":"ctree_eventlog_header","schema_version":"0.1"}\n{"kind":"message","kind":"note","payload":1,"turn":1}\n',
  );
  const { stderr, code } = await runStemma(['import', path, '--dry-run', ...home]);
  expect(stderr).toContain('line 2: the key "kind" stands twice, its last value counts');
  expect(code).toBe(0);
});

test.each(['--set', '--content-json'])('a repeated key in %s is refused', async (option) => {
  await stemmaJson(['import', '-', '--history', 'edits', ...home], '[{"role":"user","content":"hi"}]');
  const command = option === '--set' ? ['replace', 'edits', '#m0'] : ['insert', 'edits'];
  const { stdout } = await runStemma([
    ...command,
    option,
    '{"a":1,"\\u0061":2}',
    '--recorder',
    'r',
    '--json',
    ...home,
  ]);
  expect(codeOf(stdout)).toBe('E_INPUT_REPEATED_KEY');
});

test.each([
  ['[1,1,1 …', `[${'1,'.repeat(6_000_000)}1]`, 'E_INPUT_TOO_LARGE'],
  ['a key twice', '{"nodeType":"cb","id":"a","id":"b"}', 'E_INPUT_REPEATED_KEY'],
  ['half a character', Uint8Array.from([0x7b, 0x22, 0xe2, 0x82]), 'E_INPUT_ENCODING'],
  ['half a value', '{"nodeType":', 'E_INPUT_TRUNCATED'],
])('a node from stdin that is %s is refused while it comes', async (_what, input, code) => {
  await stemmaJson(['import', '-', '--history', 'edits', ...home], '[{"role":"user","content":"hi"}]');
  const args = ['insert', 'edits', '--node', '-', '--recorder', 'r', '--json', ...home];
  expect(codeOf((await runStemma(args, { input })).stdout)).toBe(code);
});
