import { historyId } from '@stemma/history';
import { openGroupProjector, openSharedDatabase } from '@stemma/home';
import { partitionOf } from '@stemma/log';
import { openKafkaLog } from '@stemma/log-kafka';
import { MAIN_GROUP } from '@stemma/projector';
import { findBroker, findPostgres, freshDatabase, programFile } from '@stemma/test-kit';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyOf, transcript } from './histories.ts';

const found = await findBroker();
const postgres = await findPostgres();
const asked = process.env['STEMMA_LONG_LOG'];
const EVENTS = Number(asked ?? 20_000);
/** A gateway answers within this time of its start: on a machine at rest; one that runs all tests at once is slower. */
const DEADLINE = asked === undefined ? 60_000 : 10_000;
const [FRAMES, BLOCKS] = [50, 19];
const MAIN = programFile('gateway');

const idOf = (copy: number): string => historyId(`long-${copy}`, '');

describe('a gateway on an empty disk and a long log', async () => {
  if ('skip' in found || 'skip' in postgres) {
    const reason = 'skip' in found ? found.skip : 'skip' in postgres ? postgres.skip : '';
    it('answers requests at once', ({ skip }) => skip(reason));
    return;
  }
  const { brokers } = found;
  const prefix = `long-${randomUUID()}`;
  const address = `kafka://${brokers.join(',')}/${prefix}`;
  const folder = mkdtempSync(join(tmpdir(), 'stemma-long-'));
  const fresh = await freshDatabase(postgres.url);
  const children: ChildProcess[] = [];

  const startGateway = async (home: string, rows: string): Promise<string> => {
    const env = {
      ...process.env,
      STEMMA_HOME: join(folder, home),
      STEMMA_LOG: address,
      STEMMA_ROWS: rows,
      STEMMA_PORT: '0',
    };
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    for await (const text of child.stdout) {
      const url = /Stemma is at (\S+)/.exec(String(text))?.[1];
      if (url !== undefined) return url;
    }
    throw new Error('the gateway ended');
  };
  const write = (url: string, history: string, id: string): Promise<Response> =>
    fetch(`${url}/api/histories/${history}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id, actor: 'Ada', steps: [{ op: 'inject', text: 'hello' }] }),
    });

  beforeAll(async () => {
    const frames = transcript(FRAMES, BLOCKS);
    const log = await openKafkaLog({ brokers, prefix, partitions: 1 });
    for (let copy = 0; copy * FRAMES * (BLOCKS + 1) < EVENTS; copy++) {
      const history = idOf(copy);
      await log.append(partitionOf(history, log.partitions), copyOf(frames, history));
    }
    const shared = await openSharedDatabase(fresh.url);
    await openGroupProjector(log, shared, MAIN_GROUP).catchUp();
    await shared.close();
    await log.close();
  }, 3_600_000);
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await fresh.drop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  it('answers reads and writes at once from an external projection', async () => {
    const started = performance.now();
    const url = await startGateway('elsewhere', fresh.url);
    const read = await fetch(`${url}/api/histories/${idOf(0)}`);
    const wrote = await write(url, `${idOf(0)}:0`, 'first');
    const took = performance.now() - started;
    expect([read.status, wrote.status]).toEqual([200, 200]);
    expect(took).toBeLessThan(DEADLINE);
  }, 120_000);

  it('reports the progress of its own rows until they are complete, and then answers', async () => {
    const started = performance.now();
    const url = await startGateway('own', '');
    const first = await fetch(`${url}/api/histories/${idOf(0)}`);
    const took = performance.now() - started;
    expect(took).toBeLessThan(DEADLINE);
    if (first.status !== 200) {
      expect([first.status, first.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await first.text()).toMatch(/"E_ROWS_BEHIND".*0@\d+ of \d+/);
    }
    for (const path of ['/health/ready', `/api/histories/${idOf(0)}`])
      while ((await fetch(url + path)).status !== 200) await sleep(100);
  }, 3_600_000);
});
