import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

test('a benchmark that is ended early prints its document, with the table that is not finished', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'stemma-bench-'));
  try {
    const main = new URL('main.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [main, 'checks', '--quick', '--json', '--scratch', scratch], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    const closed = once(child, 'close');
    // The table has begun when it has written something.
    const until = performance.now() + 60_000;
    while (existsSync(scratch) && readdirSync(scratch).length === 0 && performance.now() < until)
      await sleep(5);
    child.kill('SIGTERM');
    const [code] = (await closed) as [number | null];
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      { quick: true, unfinished: [{ name: 'checks', reason: 'ended by SIGTERM' }] },
    ]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}, 90_000);
