import { defineTable } from '@stemma/row-store';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
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
const cursor = (n: number): Uint8Array => Uint8Array.of(n);

const directories: string[] = [];
const fresh = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-rows-'));
  directories.push(directory);
  return directory;
};
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** Opens, commits one row more, and gives what was there before; `close` false leaves it as a killed process does. */
const visit = async (directory: string, boot: string, close = true): Promise<number> => {
  const store = openLmdbRowStore({ directory, boot });
  const rows = await store.generation('g', [TABLE]);
  const before = await rows.read((view) => view.range(TABLE, { prefix: ['h'] }).length);
  const expected = before === 0 ? null : cursor(before);
  await rows.commit({
    partition: 0,
    expected,
    cursor: cursor(before + 1),
    changes: [{ table: TABLE, key: ['h', before], value: ['x'] }],
  });
  if (close) await store.close();
  return before;
};

/** A process of its own that visits `times` times and ends without closing the last time, if `kill`. */
const script = (directory: string, boot: string, body: string): string[] => [
  '--input-type=module',
  '-e',
  `import { openLmdbRowStore } from ${JSON.stringify(import.meta.resolve('./lmdb-row-store.ts'))};
   const TABLE = ${JSON.stringify(TABLE)};
   const store = openLmdbRowStore(${JSON.stringify({ directory, boot })});
   const rows = await store.generation('g', [TABLE]);
   ${body}`,
];
const run = (directory: string, boot: string, body: string): void => {
  const result = spawnSync(process.execPath, script(directory, boot, body), { encoding: 'utf8' });
  expect(result.stderr).toBe('');
};
const COMMIT_ONE = `
  const n = await rows.read((view) => view.cursor(0)?.[0] ?? 0);
  await rows.commit({ partition: 0, expected: n === 0 ? null : Uint8Array.of(n), cursor: Uint8Array.of(n + 1), changes: [{ table: TABLE, key: ['h', n], value: ['x'] }] });`;

describe('rows that are not synced', () => {
  it(
    'are kept after a clean close, also when the machine restarts',
    { tags: ['decision-0002'] },
    async () => {
      const directory = fresh();
      expect([
        await visit(directory, 'one'),
        await visit(directory, 'two'),
        await visit(directory, 'two'),
      ]).toEqual([0, 1, 2]);
      expect(readdirSync(directory)).toEqual(['1']);
    },
  );

  it('are kept when a process ends without closing, as long as the machine keeps running', async () => {
    const directory = fresh();
    run(directory, 'one', `${COMMIT_ONE} process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000);`);
    expect(await visit(directory, 'one')).toBe(1);
    // Closed last by one that found nobody else alive: what the killed one wrote is synced too.
    expect(await visit(directory, 'two')).toBe(2);
  });

  it(
    'are discarded when the machine stopped before they were closed',
    { tags: ['decision-0002'] },
    async () => {
      const directory = fresh();
      run(
        directory,
        'one',
        `${COMMIT_ONE} process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000);`,
      );
      expect(await visit(directory, 'two')).toBe(0);
      expect(readdirSync(directory)).toEqual(['2']);
      expect(await visit(directory, 'three')).toBe(1);
    },
  );

  it('are discarded when the machine stopped and one of two processes had not closed them', async () => {
    const directory = fresh();
    const other = spawn(
      process.execPath,
      script(directory, 'one', `${COMMIT_ONE} console.log('ready'); setInterval(() => {}, 1000);`),
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((resolve) => other.stdout.once('data', resolve));
    expect(await visit(directory, 'one')).toBe(1);
    const ended = new Promise((resolve) => other.once('exit', resolve));
    other.kill('SIGKILL');
    await ended;
    expect(await visit(directory, 'two')).toBe(0);
  });

  it('survive a half-written state file of a process that was killed', async () => {
    const directory = fresh();
    expect(await visit(directory, 'one')).toBe(0);
    writeFileSync(join(directory, '1', 'state.4711'), 'cle');
    expect(await visit(directory, 'two')).toBe(1);
  });

  it('are written by several processes at once, each commit after the one before', async () => {
    const directory = fresh();
    const body = `
      let done = 0;
      while (done < 40) {
        const n = await rows.read((view) => view.cursor(0)?.[0] ?? 0);
        try {
          await rows.commit({ partition: 0, expected: n === 0 ? null : Uint8Array.of(n), cursor: Uint8Array.of(n + 1),
            changes: Array.from({ length: 200 }, (_, i) => ({ table: TABLE, key: ['h' + i, n], value: ['y'.repeat(100)] })) });
          done++;
        } catch (error) { if (error.code !== 'E_CURSOR_MOVED') throw error; }
      }
      await store.close();`;
    const exits = [1, 2, 3].map(
      () =>
        new Promise((resolve) =>
          spawn(process.execPath, script(directory, 'one', body), { stdio: 'inherit' }).once('exit', resolve),
        ),
    );
    expect(await Promise.all(exits)).toEqual([0, 0, 0]);
    const store = openLmdbRowStore({ directory, boot: 'one' });
    const rows = await store.generation('g', [TABLE]);
    const written = await rows.scan(async (scan) => {
      let count = 0;
      for await (const _row of scan.entries(TABLE)) count++;
      return count;
    });
    expect([await rows.read((view) => view.cursor(0)), written]).toEqual([cursor(120), 120 * 200]);
    await store.close();
  });
});

it('a store whose file was overwritten is set aside before LMDB maps it', async () => {
  const directory = fresh();
  await visit(directory, 'boot-1');
  const file = readdirSync(directory, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('rows.mdb'),
  );
  writeFileSync(join(directory, file ?? ''), Buffer.alloc(5 * 1024, 7), { flag: 'r+' });
  const said: string[] = [];
  const store = openLmdbRowStore({ directory, boot: 'boot-1', say: (sentence) => said.push(sentence) });
  expect(said).toEqual([expect.stringContaining('rows.mdb: page 0 does not begin as LMDB')]);
  expect(await store.generations()).toEqual([]);
  await store.close();
});
