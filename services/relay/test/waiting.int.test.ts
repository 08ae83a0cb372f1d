import { findBroker } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openHome } from '@stemma/home';
import { expect, test } from 'vitest';
import { runRelay } from '../src/index.ts';

test('while brokers are down the relay is alive but not ready, says once what it waits for, and ends at SIGTERM', async () => {
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

test('a relay waits for the topic of a home that has none yet, and goes on when it is there; once, or with a mistyped home, it does not wait', async ({
  skip,
}) => {
  const found = await findBroker();
  if ('skip' in found) return skip(found.skip);
  const directory = mkdtempSync(join(tmpdir(), 'stemma-relay-'));
  const stop = new AbortController();
  try {
    const address = `kafka://${found.brokers.join()}/absent-${randomUUID()}`;
    const said: string[] = [];
    const options = {
      directory,
      log: address,
      to: `${address}-out?partitions=1`,
      signal: stop.signal,
      say: (sentence: string) => void said.push(sentence),
    };
    await expect(runRelay({ ...options, once: true })).rejects.toMatchObject({ code: 'E_LOG_NOT_FOUND' });
    await expect(runRelay({ ...options, directory: join(directory, 'typo') })).rejects.toMatchObject({
      code: 'E_HOME_NOT_FOUND',
    });
    const running = runRelay(options);
    await expect.poll(() => said.join(), { timeout: 60_000 }).toContain('E_LOG_NOT_FOUND');
    const home = await openHome({ directory, log: `${address}?partitions=1`, create: true });
    await home.close();
    await expect.poll(() => said.join(), { timeout: 60_000 }).toContain('reconnected');
    stop.abort();
    await running;
  } finally {
    stop.abort();
    rmSync(directory, { recursive: true, force: true });
  }
}, 120_000);
