import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openHome } from '@stemma/home';
import { expect, test } from 'vitest';
import { runRelay } from '../src/index.ts';

test('while no broker answers, the relay is alive but not ready, reports once what it waits for, and ends on request', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-relay-'));
  try {
    await (await openHome({ directory, create: true })).close();
    const said: string[] = [];
    const stop = new AbortController();
    const running = runRelay({
      directory,
      // Nothing listens on port 1.
      to: 'kafka://127.0.0.1:1/away',
      deadline: 200,
      statusPort: 0,
      signal: stop.signal,
      say: (sentence) => void said.push(sentence),
    });
    const ready = async (): Promise<string> => {
      const url = /http:\S+/.exec(said.join(' '))?.[0];
      if (url === undefined) return '';
      expect((await fetch(`${url}/health/live`)).status).toBe(200);
      const answer = await fetch(`${url}/health/ready`);
      expect(answer.status).toBe(503);
      return answer.text();
    };
    for (const late = Date.now() + 60_000; !(await ready()).includes('127.0.0.1:1');) {
      if (Date.now() > late) throw new Error(`it said ${said.join('; ')}`);
      await sleep(50);
    }
    stop.abort();
    expect(await running).toMatchObject({ events: 0 });
    expect(said.filter((sentence) => sentence.startsWith('waiting')).length).toBe(1);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
