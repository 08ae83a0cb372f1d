import { compareCodePoints } from '@stemma/canonical';
import { mountReadOnly, programFile } from '@stemma/test-kit';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder, type Run } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const home = join(folder.path, 'home');
const chat = join(folder.path, 'chat.json');
/** Larger than what stands in a frame: it lies among the contents. */
const LONG = 'a long policy '.repeat(8_000);
writeFileSync(
  chat,
  JSON.stringify([
    { role: 'system', content: LONG },
    { role: 'user', content: 'Which ferry sails at night?' },
    { role: 'assistant', content: 'The one to Ystad.' },
    { role: 'user', content: 'And in the morning?' },
    { role: 'assistant', content: 'The one to Swinemünde.' },
  ]),
);

const READS: readonly (readonly string[])[] = [
  ['histories'],
  ['thread', 'talk'],
  ['diff', 'talk', '@c1', '@c2'],
  ['snapshots', 'talk'],
  ['grep', 'ferry'],
  ['interventions', 'talk'],
  ['verify'],
  ['calls', 'talk'],
];
const WRITES: readonly (readonly string[])[] = [
  ['import', chat, '--history', 'another'],
  ['inject', 'talk', 'more'],
];
const inHome = (command: readonly string[], directory: string): string[] => [...command, '--home', directory];

/** Rows that were made for a question are not in rows that were made for the next one. */
const withoutRows = (text: string): string => text.replace(/\d+ rows/, 'rows');

let right: readonly string[] = [];
beforeAll(async () => {
  await stemmaJson(['import', chat, '--history', 'talk', '--home', home]);
  const outputs = [];
  for (const command of READS) {
    const { code, stdout } = await runStemma(inHome(command, home));
    expect([command, code]).toEqual([command, 0]);
    outputs.push(withoutRows(stdout));
  }
  right = outputs;
}, 60_000);

/** What the files of a folder are, and what is in them. */
const filesOf = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .sort(compareCodePoints)
    .map((path) => `${path} ${statSync(path).isFile() ? readFileSync(path).toString('base64') : ''}`);

const isRoot = process.getuid?.() === 0;

test('a home on a read-only medium answers as any, and refuses what would be recorded', async (context) => {
  const mounted = mountReadOnly(home);
  if (mounted === undefined) return context.skip('only root may mount a folder as read-only');
  try {
    const before = filesOf(home);
    for (const [i, command] of READS.entries()) {
      const { code, stdout, stderr } = await runStemma(inHome(command, mounted.path));
      expect([command, code, withoutRows(stdout)]).toEqual([command, 0, right[i]]);
      expect(stderr).toContain('can only be read (EROFS)');
    }
    const doctor = await runStemma(['doctor', '--home', mounted.path]);
    expect(doctor.code).toBe(0);
    for (const command of WRITES) {
      const { code, stderr } = await runStemma(inHome(command, mounted.path));
      expect([command, code]).toEqual([command, 74]);
      expect(stderr).toContain(`${mounted.path} can only be read: nothing can be recorded in it (E_IO)`);
    }
    expect(filesOf(home)).toEqual(before);
  } finally {
    mounted.close();
  }
}, 120_000);

test('the home of another user answers as far as it may be read, and refuses what would be recorded', (context) => {
  if (!isRoot) return context.skip('only root may start a process of another user');
  const copy = join(folder.path, 'others');
  cpSync(home, copy, { recursive: true });
  for (const path of [folder.path, copy, ...pathsIn(copy)])
    chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
  const places = join(folder.path, 'places');
  mkdirSync(places);
  chmodSync(places, 0o777);
  const asNobody = (command: readonly string[]): Run => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [programFile('stemma'), ...inHome(command, copy)],
      {
        uid: 65_534,
        gid: 65_534,
        env: { ...process.env, TMPDIR: places },
        encoding: 'utf8',
        timeout: 60_000,
      },
    );
    return { code: status, stdout, stderr };
  };
  const readable = asNobody(['histories']);
  if (readable.stderr.includes('Cannot find module') || readable.stderr.includes('ERR_MODULE_NOT_FOUND'))
    return context.skip('another user cannot read the program');
  for (const i of [0, 1, 4, 6]) {
    const command = READS[i] ?? [];
    const { code, stdout, stderr } = asNobody(command);
    expect([command, code, withoutRows(stdout)]).toEqual([command, 0, right[i]]);
    expect(stderr).toContain('can only be read (EACCES)');
  }
  const refused = asNobody(WRITES[0] ?? []);
  expect(refused.code).toBe(74);
  expect(refused.stderr).toContain(`${copy} can only be read: nothing can be recorded in it (E_IO)`);
  // What was derived is gone with the process.
  expect(readdirSync(places)).toEqual([]);

  chmodSync(join(copy, 'log'), 0o700);
  const closed = asNobody(['histories']);
  expect(closed.code).toBe(74);
  expect(closed.stderr).toContain(`the home cannot be read: EACCES: permission denied`);
}, 120_000);

const pathsIn = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true }).map((name) => join(directory, String(name)));

test('a record that another process appends is seen in a home that can only be read', async (context) => {
  const mounted = mountReadOnly(home);
  if (mounted === undefined) return context.skip('only root may mount a folder as read-only');
  try {
    const { openHome } = await import('@stemma/home');
    const reader = await openHome({ directory: mounted.path });
    const before = (await reader.read.histories()).length;
    await stemmaJson(['import', chat, '--history', 'later', '--home', home]);
    const after = await reader.read.histories();
    expect([before, after.map(({ name }) => name)]).toEqual([1, ['later', 'talk']]);
    await reader.close();
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`stemma-rows-${process.pid}.`))).toEqual(
      [],
    );
  } finally {
    mounted.close();
  }
}, 60_000);
