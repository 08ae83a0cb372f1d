import { FAKE_SECRETS, filesHolding } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { MAIN, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const SECRETS = FAKE_SECRETS.map(([, , secret]) => secret);
const KEY = SECRETS[0] ?? '';

const CONVERSATION = FAKE_SECRETS.flatMap(([, text], i) => [
  {
    role: 'user',
    content: [
      { type: 'text', text },
      { type: 'text', text: `(${text})` },
    ],
  },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: `call_${i}`, type: 'function', function: { name: 'f', arguments: JSON.stringify({ a: text }) } },
    ],
  },
  { role: 'tool', tool_call_id: `call_${i}`, content: JSON.stringify({ answer: [text] }), name: 'f' },
]);

test('imports and edits on the command line leave no secret in any byte of the home, nor in a report', async () => {
  using folder = temporaryFolder();
  const home = join(folder.path, 'home');
  const file = join(folder.path, 'chat.json');
  const pact = join(folder.path, 'pact.json');
  mkdirSync(home);
  writeFileSync(join(home, 'redact.json'), '{}');
  writeFileSync(file, JSON.stringify(CONVERSATION));
  const where = ['--home', home];

  const chat = await runStemma(['import', file, '--history', 'chat', ...where]);
  expect(chat).toMatchObject({ code: 0 });
  const again = await runStemma(['import', file, '--history', 'chat', ...where]);
  expect(again).toMatchObject({ code: 0, stdout: `${chat.stdout}already there: 1 conversation\n` });
  const insertion = ['insert', 'chat', '--id', 'n', '--content', `use ${KEY}`, '--notes', `because ${KEY}`];
  expect(await runStemma([...insertion, ...where])).toMatchObject({ code: 0 });
  expect(await runStemma(['annotate', 'chat', `see ${KEY}`, ...where])).toMatchObject({ code: 0 });
  const why = await runStemma(['why', 'chat', 'n', ...where]);
  expect(why.stdout).toContain('redacted before it was recorded: 1 × api_key in content');
  const log = await runStemma(['log', 'chat', '--node', 'n', ...where]);
  expect(log.stdout).toMatch(/NodeInserted[\s\S]*ContentRedacted/);
  const audit = await runStemma(['interventions', 'chat', ...where, '--json']);
  expect(audit.stdout).toContain('"op":"redacted"');

  const exported = (await runStemma(['export', 'chat', ...where])).stdout;
  writeFileSync(pact, exported.replaceAll('[redacted:api_key]', KEY));
  expect(await runStemma(['import', pact, '--history', 'state', ...where])).toMatchObject({ code: 0 });
  expect((await runStemma(['export', 'state', ...where])).stdout).toBe(exported);

  const refusals = [
    await runStemma(['save', 'chat', KEY, ...where]),
    await runStemma(['start', '--name', KEY, ...where]),
    await runStemma(['insert', 'chat', '--id', KEY, '--content', 'x', ...where]),
    await runStemma(['show', 'chat', `#${KEY}`, ...where]),
    await runStemma(['select', 'chat', `.cb[content='${KEY}`, ...where]),
  ];
  for (const { code, stdout, stderr } of refusals) {
    expect(code).not.toBe(0);
    expect(stdout + stderr).not.toContain(KEY);
  }
  expect(await runStemma(['verify', ...where])).toMatchObject({ code: 0 });
  expect(filesHolding(home, SECRETS)).toEqual([]);
});

test('importing a pipe leaves no secret in any temporary file', async () => {
  using folder = temporaryFolder();
  const rules = join(folder.path, 'rules.json');
  writeFileSync(rules, JSON.stringify({ patterns: [{ name: 'badge', pattern: 'B-\\d{6}' }], labels: true }));
  const home = join(folder.path, 'home');
  const temporary = join(folder.path, 'tmp');
  mkdirSync(temporary);
  const before = new Set(readdirSync(tmpdir()));
  const input = join(folder.path, 'input.json');
  writeFileSync(input, JSON.stringify([{ role: 'user', content: `B-123456 and ${KEY}` }]));
  const { stderr } = await promisify(execFile)(
    'sh',
    [
      '-c',
      'cat "$0" | "$1" "$2" import /dev/stdin --history a --home "$3" --redact "$4"',
      input,
      process.execPath,
      MAIN,
      home,
      rules,
    ],
    { env: { ...process.env, TMPDIR: temporary } },
  );
  rmSync(input);
  expect(stderr).toBe('');
  expect(readdirSync(temporary)).toEqual([]);
  expect(
    readdirSync(tmpdir()).filter((name) => name.startsWith('stemma-import') && !before.has(name)),
  ).toEqual([]);
  expect(filesHolding(home, [KEY, 'B-123456'])).toEqual([]);
  const thread = (await stemmaJson(['thread', 'a', '--home', home])) as object;
  expect(JSON.stringify(thread)).toMatch(
    /\[redacted:badge#[0-9a-f]{12}\] and \[redacted:api_key#[0-9a-f]{12}\]/,
  );
});

test('doctor --secrets finds secrets that are encoded, once or in each other, and prints none', async () => {
  using folder = temporaryFolder();
  const hex = (text: string): string => Buffer.from(text).toString('hex');
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const wrapped = (text: string): string => base64(text).replaceAll(/.{24}/gu, '$&\n');
  const coded: Readonly<Record<string, string>> = {
    plain: KEY,
    hex: hex(KEY),
    percents: hex(KEY).replaceAll(/../gu, '%$&'),
    wrapped: wrapped(`a file with ${KEY} in it`),
    nested: base64(JSON.stringify({ hex: hex(KEY) })),
    harmless: wrapped('The quick brown fox jumps over the lazy dog. '.repeat(4)),
  };
  const home = join(folder.path, 'home');
  for (const [name, text] of Object.entries(coded)) {
    const file = join(folder.path, `${name}.json`);
    writeFileSync(file, JSON.stringify([{ role: 'user', content: `see: ${text}` }]));
    expect(await runStemma(['import', file, '--history', name, '--home', home])).toMatchObject({ code: 0 });
  }
  const { code, stdout } = await runStemma(['doctor', '--secrets', '--home', home]);
  expect(code).toBe(0);
  expect(stdout.match(/^warning: .*$/gmu)?.toSorted()).toEqual(
    ['hex', 'nested', 'percents', 'plain', 'wrapped'].map(
      (name) => `warning: the history ${name} has texts that look like secrets: 1 × API key`,
    ),
  );
  for (const text of Object.values(coded)) expect(stdout).not.toContain(text.slice(0, 12));
});
