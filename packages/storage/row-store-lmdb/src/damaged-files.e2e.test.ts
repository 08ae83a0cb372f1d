import { scratchFolder } from '@stemma/test-kit';
import { bootId } from '@stemma/machine';
import { defineTable } from '@stemma/row-store';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { noteClosed } from './epoch.ts';
import { openLmdbRowStore } from './lmdb-row-store.ts';

const TABLE = defineTable({
  name: 'things',
  about: '',
  key: [
    ['history', 'text'],
    ['n', 'uint'],
  ],
  value: [['text', 'text']],
});

const directories: string[] = [];
// Hundreds of stores are closed, each with a sync: in memory it costs nothing.
const PLACE = scratchFolder();
const fresh = (): string => {
  const directory = mkdtempSync(join(PLACE, 'stemma-damaged-rows-'));
  directories.push(directory);
  return directory;
};
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

const COUNT = 300;

/** Closed rows: a tree of two levels, and a value of several pages. */
const makeRows = async (): Promise<string> => {
  const directory = fresh();
  const store = openLmdbRowStore({ directory });
  const rows = await store.generation('g', [TABLE]);
  await rows.commit({
    partition: 0,
    expected: null,
    cursor: Uint8Array.of(1),
    changes: Array.from({ length: COUNT }, (_, n) => ({
      table: TABLE,
      key: ['h', n],
      value: ['x'.repeat(n === 7 ? 9_000 : 60)],
    })),
  });
  await store.close();
  return directory;
};

type Outcome = {
  readonly name: string;
  readonly keys: number;
  readonly said: string;
  readonly error: string;
};

/** What a process says that opens each directory, reads all rows and writes one; a process that dies says less. */
const visitAll = (names: readonly string[]): { outcomes: Outcome[]; signal: string | null } => {
  const source = `
    import { openLmdbRowStore } from ${JSON.stringify(import.meta.resolve('./lmdb-row-store.ts'))};
    const TABLE = ${JSON.stringify(TABLE)};
    for (const directory of ${JSON.stringify(names)}) {
      let said = '', keys = -1, error = '';
      try {
        const store = openLmdbRowStore({ directory, say: (text) => (said += text) });
        try {
          const rows = await store.generation('g', [TABLE]);
          keys = await rows.read((view) => view.range(TABLE, { prefix: ['h'] }).length);
          const expected = await rows.read((view) => view.cursor(0));
          await rows.commit({ partition: 0, expected, cursor: Uint8Array.of(2), changes: [{ table: TABLE, key: ['i', 0], value: ['y'] }] });
        } finally { await store.close(); }
      } catch (caught) { error = String(caught.code ?? caught); }
      console.log(JSON.stringify({ name: directory, keys, said, error }));
    }`;
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const outcomes = stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Outcome);
  return { outcomes, signal };
};

const filesOf = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));

const damagedCopy = (whole: string, file: string, change: (bytes: Buffer) => Buffer | null): string => {
  const copy = fresh();
  cpSync(whole, copy, { recursive: true });
  const path = join(copy, file);
  const bytes = change(readFileSync(path));
  if (bytes === null) rmSync(path);
  else writeFileSync(path, bytes);
  return copy;
};

it(
  'when any file of the rows is missing, cut, zeroed or changed, a process that opens them does not crash, and reports lost rows',
  { tags: ['long'], timeout: 60_000 },
  async () => {
    const whole = await makeRows();
    const copies = new Map<string, string>();
    // A state that cannot be read is that of a machine that has ended: the rows are begun anew, as then.
    for (const file of filesOf(whole).filter((name) => !name.endsWith('state'))) {
      const { size } = statSync(join(whole, file));
      const add = (how: string, change: (bytes: Buffer) => Buffer | null): void =>
        void copies.set(damagedCopy(whole, file, change), `${file} ${how}`);
      add('missing', () => null);
      add('zeroed', (bytes) => bytes.fill(0));
      add('emptied', () => Buffer.alloc(0));
      // The heads of pages: what LMDB follows.
      for (let at = 0; at < size; at += 4096) {
        add(`cut at ${at + 100}`, (bytes) => bytes.subarray(0, at + 100));
        for (const offset of [at, at + 20, at + 26, at + 56])
          add(`changed at ${offset}`, (bytes) => {
            bytes.fill(0xa5, Math.min(offset, size), Math.min(offset + 6, size));
            return bytes;
          });
      }
    }
    const { outcomes, signal } = visitAll([...copies.keys()]);
    const name = (each: Outcome): string =>
      `${copies.get(each.name)}: ${JSON.stringify({ ...each, name: '' })}`;
    expect({
      signal,
      last: outcomes.length < copies.size ? [...copies.values()][outcomes.length] : 'all',
    }).toEqual({
      signal: null,
      last: 'all',
    });
    // A value that cannot be read is found when it is read.
    const refused = (error: string): boolean => error === 'E_ROWS_DAMAGED' || error === 'E_FRAME_INVALID';
    expect(outcomes.filter(({ error }) => error !== '' && !refused(error)).map(name)).toEqual([]);
    // Empty rows are rebuilt from the log: nobody is left without a word.
    expect(
      outcomes.filter(({ keys, said, error }) => keys !== COUNT && said + error === '').map(name),
    ).toEqual([]);
    expect(
      outcomes.filter(({ keys, error }) => keys !== COUNT && keys !== 0 && error === '').map(name),
    ).toEqual([]);
  },
);

it('a tree that LMDB takes for a value is damage, and does not keep its reader forever', async () => {
  const directory = await makeRows();
  const file = join(directory, '1', 'rows.mdb');
  const bytes = readFileSync(file);
  const name = Buffer.from('rows things');
  // Four bytes of flags and length stand before the key. LMDB leaves old pages in the file, so it is there more than once.
  for (let at = bytes.indexOf(name); at !== -1; at = bytes.indexOf(name, at + 1))
    bytes.writeUInt16LE(0, at - 4);
  writeFileSync(file, bytes);
  expect(visitAll([directory])).toMatchObject({ outcomes: [{ error: 'E_ROWS_DAMAGED' }], signal: null });
});

it('rows that crash the process that reads them are moved aside by the next process, with a report', async () => {
  const directory = await makeRows();
  const folder = join(directory, '1');
  const file = join(folder, 'rows.mdb');
  const bytes = readFileSync(file);
  for (let page = 2; (page + 1) * 4096 <= bytes.length; page++)
    // A leaf whose entries lie far outside: LMDB reads what is there.
    if (bytes.readUInt16LE(page * 4096 + 18) === 2) bytes.fill(0xff, page * 4096 + 24, page * 4096 + 40);
  writeFileSync(file, bytes);
  // A disk that changes bytes leaves no trace: the file looks as it did when it was closed.
  noteClosed(folder, file, bootId());
  const first = visitAll([directory]);
  expect([first.signal, first.outcomes[0]?.keys]).not.toEqual([null, COUNT]);
  const { outcomes, signal } = visitAll([directory, directory]);
  expect(signal).toBeNull();
  expect(outcomes).toMatchObject([
    {
      keys: 0,
      said: expect.stringMatching(/^the rows were damaged \(rows\.mdb: page \d+ .*rebuilt/) as string,
    },
    { keys: 0, said: '', error: '' },
  ]);
  expect(new Set(readdirSync(directory))).toEqual(new Set(['2', 'damaged-1']));
});

it('a process that has rows open when another finds them damaged continues with the new rows', async () => {
  const directory = await makeRows();
  const store = openLmdbRowStore({ directory });
  const rows = await store.generation('g', [TABLE]);
  expect(await rows.read((view) => view.range(TABLE, { prefix: ['h'] }).length)).toBe(COUNT);
  // Another process is killed by it, or by somebody.
  writeFileSync(join(directory, '1', 'users', '999999999.1.1.gone'), '');
  const file = join(directory, '1', 'rows.mdb');
  const changed = readFileSync(file);
  for (let page = 2; (page + 1) * 4096 <= changed.length; page++)
    if (changed.readUInt16LE(page * 4096 + 18) === 2) changed.writeUInt16LE(0, page * 4096 + 20);
  writeFileSync(file, changed);
  const { outcomes } = visitAll([directory]);
  expect(outcomes).toMatchObject([
    { keys: 0, said: expect.stringContaining('damaged') as string, error: '' },
  ]);
  // Whether the rows are still these is looked at once a turn of the event loop.
  await setImmediate();
  expect(await rows.read((view) => view.range(TABLE, { prefix: ['i'] }).length)).toBe(1);
  await rows.commit({
    partition: 0,
    expected: Uint8Array.of(2),
    cursor: Uint8Array.of(3),
    changes: [{ table: TABLE, key: ['i', 1], value: ['z'] }],
  });
  await store.close();
  expect(new Set(readdirSync(directory))).toEqual(new Set(['1', '2']));
  const { outcomes: later } = visitAll([directory]);
  expect(later).toMatchObject([{ said: '', error: '' }]);
  expect(new Set(readdirSync(directory))).toEqual(new Set(['2', 'damaged-1']));
});
