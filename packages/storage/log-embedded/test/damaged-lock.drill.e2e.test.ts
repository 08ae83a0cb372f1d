import { sealRecord, type Entry } from '@stemma/log';
import { sized, scratchFolder } from '@stemma/test-kit';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openEmbeddedLog } from '../src/index.ts';

// Each of hundreds of logs is synced: in memory it costs nothing.
const PLACE = scratchFolder();
const directories: string[] = [];
const fresh = (): string => {
  const directory = mkdtempSync(join(PLACE, 'stemma-damaged-lock-'));
  directories.push(directory);
  return directory;
};
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

const CHILD = join(import.meta.dirname, 'children', 'visit.ts');
const entry = (key: string): Entry => ({ key, bytes: sealRecord(Buffer.from(`what ${key} wrote`)) });

type Outcome = { readonly keys: readonly string[]; readonly said: readonly string[] };

/** What a process says that opens each log, appends and reads it. */
const visitAll = (logs: readonly string[]): { outcomes: Outcome[]; signal: string | null } => {
  const { stdout, signal } = spawnSync(process.execPath, [CHILD, ...logs], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 170_000,
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return { outcomes: lines.map((line) => JSON.parse(line) as Outcome), signal };
};

it(
  'whatever file of the lock is missing, cut, zeroed or changed, a process that opens the log does not crash, and reads all records',
  { tags: ['record§6'], timeout: 180_000 },
  async () => {
    const whole = fresh();
    const log = await openEmbeddedLog({ directory: whole });
    await log.append(0, [entry('a')]);
    await log.close();
    const copies = new Map<string, string>();
    const files = readdirSync(join(whole, 'lock'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(whole, join(entry.parentPath, entry.name)));
    for (const file of files) {
      const add = (how: string, change: (bytes: Buffer) => Buffer | null): void => {
        const copy = fresh();
        cpSync(whole, copy, { recursive: true });
        const bytes = change(readFileSync(join(copy, file)));
        if (bytes === null) rmSync(join(copy, file));
        else writeFileSync(join(copy, file), bytes);
        copies.set(copy, `${file} ${how}`);
      };
      const { length } = readFileSync(join(whole, file));
      add('missing', () => null);
      add('zeroed', (bytes) => bytes.fill(0));
      add('emptied', () => Buffer.alloc(0));
      for (let at = 0; at < length; at += sized(32_768, 4096)) {
        add(`cut at ${at + 64}`, (bytes) => bytes.subarray(0, at + 64));
        add(`zeroed at ${at}`, (bytes) => bytes.fill(0, at, at + 64));
        add(`changed at ${at + 16}`, (bytes) => bytes.fill(0xa5, at + 16, at + 80));
      }
    }
    const { outcomes, signal } = visitAll([...copies.keys()]);
    const died = outcomes.length < copies.size ? [...copies.values()][outcomes.length] : 'none';
    expect({ signal, died }).toEqual({ signal: null, died: 'none' });
    const names = [...copies.values()];
    const wrong = outcomes
      .map(({ keys }, i) => `${names[i]}: ${keys.join()}`)
      .filter((text) => !text.endsWith(': a,b'));
    expect(wrong).toEqual([]);
    const loud = outcomes.filter(({ said }) => said.length > 0).map(({ said }) => said[0]);
    expect(loud.length).toBeGreaterThan(files.length);
    expect(
      loud.filter(
        (text) => !/^the lock of the log was damaged \(.+\); the log's end was found/.test(text ?? ''),
      ),
    ).toEqual([]);
  },
);

it('when a second process finds the lock damaged while a first has the log open, the first appends after the records of the second and overwrites nothing', async () => {
  const directory = fresh();
  const log = await openEmbeddedLog({ directory });
  await log.append(0, [entry('a')]);
  const file = join(directory, 'lock', '1', 'gate', 'data.mdb');
  // Nobody reads it any more who has it open.
  writeFileSync(file, readFileSync(file).fill(7, 4096));
  const { outcomes } = visitAll([directory]);
  expect(outcomes).toMatchObject([{ keys: ['a', 'b'], said: [expect.stringContaining('gate') as string] }]);
  const seen = await log.read(0, 0);
  expect(seen.records.map(({ key }) => key).slice(1)).toEqual(['a', 'b']);
  await log.append(0, [entry('c')]);
  const { records } = await log.read(0, 0);
  expect(records.map(({ key, damaged }) => (damaged ? null : key)).slice(1)).toEqual(['a', 'b', 'c']);
  await log.close();
  expect(readdirSync(join(directory, 'lock'))).toContain('2');
});
