import { sized } from '@stemma/test-kit';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { spawnStemma, temporaryFolder } from './run-stemma.ts';

const LOAD = join(import.meta.dirname, 'children/write-until-killed.ts');

test('a home that is copied with `cp -r` while a process writes to it can be opened, and holds all that was acknowledged before', async () => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const home = join(folder, 'home');
  const child = spawn(process.execPath, [LOAD, home, 'load'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  let acknowledged = 0;
  const reach = async (count: number): Promise<void> => {
    while (acknowledged < count) acknowledged = Number((await lines.next()).value);
  };
  try {
    for (let i = 0; i < sized(1, 10); i++) {
      await reach(acknowledged + 20);
      const before = acknowledged;
      const copy = join(folder, `copy-${i}`);
      spawnSync('cp', ['-r', home, copy]);
      // The home would grow while the copy is looked at, and the next copy take longer.
      child.kill('SIGSTOP');
      const list = await spawnStemma(['--home', copy, '--json', 'snapshots', 'load-1']);
      expect(list.code, list.stderr).toBe(0);
      expect(list.stderr).toMatch(/was copied while others wrote to it/);
      expect(list.stderr).toMatch(/the rows were copied while others wrote them/);
      expect((JSON.parse(list.stdout) as unknown[]).length).toBeGreaterThanOrEqual(before);
      for (const args of [['replay', '--verify'], ['verify'], ['start', '--name', 'in-the-copy']]) {
        const run = await spawnStemma(['--home', copy, ...args]);
        expect({ args, ...run }).toMatchObject({ code: 0, stderr: '' });
      }
      child.kill('SIGCONT');
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}, 120_000);
