import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIN, runStemma } from './run-stemma.ts';

let home: string;
beforeAll(() => {
  home = join(mkdtempSync(join(tmpdir(), 'stemma-watch-')), 'home');
});
afterAll(() => rmSync(join(home, '..'), { recursive: true, force: true }));

const stemma = async (...args: readonly string[]): Promise<void> => {
  const { code, stderr } = await runStemma([...args, '--home', home]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
};

/** A watch in a process of its own, its lines as they come. */
const watching = (...args: readonly string[]) => {
  const child = spawn(process.execPath, [MAIN, 'watch', ...args, '--home', home]);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const stderr: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const ended = once(child, 'close').then(([code]) => [code as unknown, Buffer.concat(stderr).toString()]);
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    return done === true ? 'ended' : value;
  };
  return { child, next, ended };
};

test(
  'watch prints changes that another process makes, follows a rollback of its branch, and ends with Ctrl-C',
  { tags: ['long', 'context-tree§5:rollback'], timeout: 600_000 },
  async () => {
    await stemma('start', '--name', 'desk');
    await stemma('insert', 'desk', '--id', 'one', '--role', 'tool', '--content', '1');
    await stemma('commit', 'desk');
    const { child, next, ended } = watching('desk', ".cb[role='tool']");
    expect([await next(), await next()]).toEqual(['@c1: 1 matched', '  + one  tool: 1']);
    await stemma('insert', 'desk', '--id', 'asked', '--role', 'user', '--content', 'not watched');
    await stemma('insert', 'desk', '--id', 'two', '--role', 'tool', '--content', '2');
    expect([await next(), await next()]).toEqual(['@s4: 2 matched', '  + two  tool: 2']);
    await stemma('rollback', 'desk', '@c1');
    expect([await next(), await next()]).toEqual(['@s5: 1 matched', '  - two  tool: 2']);
    await stemma('insert', 'desk', '--id', 'three', '--role', 'tool', '--content', '3');
    expect([await next(), await next()]).toEqual(['@s6: 2 matched', '  + three  tool: 3']);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, '']);
  },
);

test('watch whose stdout is closed, as by `| head -1`, ends at the next change with exit 0', async () => {
  await stemma('start', '--name', 'piped');
  const { child, next, ended } = watching('piped', '.cb', '--json');
  expect(JSON.parse(await next())).toMatchObject({ first: true, ids: [], position: { label: '@s0' } });
  child.stdout.destroy();
  await stemma('insert', 'piped', '--content', 'nobody reads this');
  expect(await ended).toEqual([0, '']);
}, 600_000);
