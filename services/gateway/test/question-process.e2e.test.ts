import { openHome, type Home } from '@stemma/home';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openQuestionProcess } from '../src/questions-apart/question-pool.ts';

const PROGRAM = new URL('../src/questions-apart/question-process.ts', import.meta.url);
const directory = mkdtempSync(join(tmpdir(), 'stemma-question-process-'));
let home: Home;
beforeAll(async () => {
  home = await openHome({ directory, create: true });
});
afterAll(async () => {
  await home.close();
  rmSync(directory, { recursive: true });
});

test('a process for questions ends also where the one that it works for ended while it was loaded', async () => {
  const child = fork(PROGRAM, {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(20_000) });
  child.send({ kind: 'open', home: { directory } });
  child.disconnect();
  expect(await exited).toEqual([null, 'SIGKILL']);
});

test('a process for questions that still starts is ended with the pool', async () => {
  const closing = new AbortController();
  const opened = openQuestionProcess({ directory }, closing.signal);
  closing.abort();
  await expect(opened).rejects.toMatchObject({ code: 'E_INTERNAL' });
});
