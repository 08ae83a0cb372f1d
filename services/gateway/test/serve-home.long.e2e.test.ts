import { openHome } from '@stemma/home';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createClient } from '@stemma/api';
import type { Client } from '../src/answers.ts';
import { openQuestionPool, type QuestionPool } from '../src/questions-apart/question-pool.ts';
import { serveHome, type Gateway } from '../src/index.ts';
import { block, commit } from './airline.ts';

const directories: string[] = [];
let gateway: Gateway | undefined;
let pool: QuestionPool | undefined;
afterEach(async () => {
  pool?.close();
  await gateway?.close();
  [gateway, pool] = [undefined, undefined];
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});
const fresh = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-serve-home-'));
  directories.push(directory);
  return directory;
};
const record = async (url: string, content = 'Hello'): Promise<void> => {
  const client = createClient(fetch, url);
  await client.start({ body: { id: 'start', recorder: 'agent', name: 'first' } });
  const steps = [block('ask', content), commit(1)];
  await client.command({ history: 'first', body: { id: 'one', recorder: 'agent', steps } });
};

test(
  'a gateway in a worker thread records commands, answers, streams and closes, and loses nothing acknowledged',
  { timeout: 60_000 },
  async () => {
    const directory = fresh();
    gateway = await serveHome({ home: { directory, create: true }, port: 0 });
    const { url } = gateway;
    const stream = await fetch(`${url}/api/events`);
    const events = stream.text();
    await record(url);
    const client = createClient(fetch, url);
    expect((await client.select({ history: 'first', selector: '@c1 #ask' })).ids).toEqual(['ask']);
    expect(await client.thread({ history: 'first', at: '@c1' })).toContain('Hello');
    await expect(client.select({ history: 'nobody', selector: '*' })).rejects.toMatchObject({
      code: 'E_HISTORY_NOT_FOUND',
    });
    await fetch(`${url}/api/histories`, { method: 'DELETE' });
    await fetch(`${url}/health/live`);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    for (const line of [
      'stemma_http_requests_total{method="GET",route="/health/live",status="200"} 1',
      'stemma_http_refused_total{code="E_METHOD_NOT_ALLOWED"} 1',
      'stemma_questions_total{outcome="answered"} 2',
      'stemma_questions_total{outcome="failed"} 1',
      'stemma_proxied_calls_waiting 0',
      'stemma_proxied_bytes_waiting 0',
      'stemma_proxied_lag_seconds 0',
    ])
      expect(metrics).toContain(line);
    const recording = { calls: 0, bytes: 0, seconds: 0 };
    expect(await client.healthReady({})).toEqual({ status: 'ready', recording });
    await gateway.close();
    gateway = undefined;
    expect(await events).toContain('event: end\ndata: {"error":{"code":"E_BUSY"');
    const home = await openHome({ directory });
    expect((await home.read.histories()).map(({ name }) => name)).toEqual(['first']);
    await home.close();
  },
);

test('a home that cannot be opened is refused with a code, and no thread or process stays running', async () => {
  await expect(serveHome({ home: { directory: join(fresh(), 'none') }, port: 0 })).rejects.toMatchObject({
    code: 'E_HOME_NOT_FOUND',
  });
});

test(
  'large answers that clients do not read share a limit: further ones are refused until those are read or dropped',
  { timeout: 60_000 },
  async () => {
    gateway = await serveHome({
      home: { directory: fresh(), create: true },
      port: 0,
      limits: { answers: 20_000_000 },
    });
    const { port, url } = gateway;
    await record(url, 'x'.repeat(12_000_000));
    const ask = async (): Promise<number> => {
      const response = await fetch(`${url}/api/histories/first/thread?at=@c1`);
      await response.arrayBuffer();
      return response.status;
    };
    expect(await ask()).toBe(200);
    // Refused itself while the server does not know yet that the answer before was taken.
    let slow: Socket | undefined;
    const askAndStop = async (): Promise<string> => {
      slow?.destroy();
      slow = connect(port, '127.0.0.1');
      slow.write(`GET /api/histories/first/thread?at=@c1 HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
      const [head] = (await once(slow, 'data')) as [Buffer];
      slow.pause();
      return head.subarray(0, 12).toString();
    };
    await expect.poll(askAndStop, { timeout: 20_000 }).toBe('HTTP/1.1 200');
    await expect.poll(ask, { timeout: 20_000 }).toBe(503);
    slow?.destroy();
    await expect.poll(ask, { timeout: 20_000 }).toBe(200);
  },
);

test(
  'a client that does not read its stream is disconnected, and its stream ends',
  { timeout: 60_000 },
  async () => {
    gateway = await serveHome({
      home: { directory: fresh(), create: true },
      port: 0,
      limits: { stall: 500 },
    });
    const { port, url } = gateway;
    const client = createClient(fetch, url);
    await client.start({ body: { id: 'start', recorder: 'agent', name: 'first' } });
    let closed = false;
    const socket = connect(port, '127.0.0.1').pause();
    socket.on('error', () => undefined).on('close', () => (closed = true));
    socket.write(`GET /api/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
    // More than the kernel keeps for the two ends of a connection.
    const write = async (): Promise<boolean> => {
      const steps = Array.from({ length: 500 }, () => block(randomUUID(), 'x'.repeat(15_000)));
      await client.command({ history: 'first', body: { id: randomUUID(), recorder: 'agent', steps } });
      socket.write('\r\n');
      return closed;
    };
    await expect.poll(write, { timeout: 50_000, interval: 100 }).toBe(true);
  },
);

test(
  'a query that takes too long, or whose client has gone, is ended with its process, and the next query is answered',
  { timeout: 60_000 },
  async () => {
    const directory = fresh();
    gateway = await serveHome({ home: { directory, create: true }, port: 0 });
    await record(gateway.url);
    const input = {
      method: 'GET',
      params: { history: 'first' },
      query: 'selector=@c1+%23ask',
      headers: {},
      body: null,
    };
    const waits = { connection: 1, program: async () => 'one', onGone: () => undefined };
    const gone = { ...waits, onGone: (act: () => void) => act() };
    const ask = async (given: QuestionPool, client: Client = waits): Promise<string> => {
      const answer = await given.ask('select', input, client);
      return 'pieces' in answer ? '' : Buffer.from(answer.body ?? '').toString();
    };
    const stuck = openQuestionPool({
      home: { directory },
      catchUp: () => new Promise(() => undefined),
      timeout: 300,
    });
    await expect(ask(stuck)).rejects.toMatchObject({ code: 'E_QUERY_TIMEOUT' });
    await expect(ask(stuck, gone)).rejects.toMatchObject({ code: 'E_CANCELLED' });
    stuck.close();
    pool = openQuestionPool({
      home: { directory },
      catchUp: async () => undefined,
      timeout: 30_000,
      processes: 1,
    });
    expect(await ask(pool)).toContain('"ids":["ask"]');
    for (const pid of questionProcesses(directory)) process.kill(pid, 'SIGKILL');
    await expect
      .poll(() => ask(pool as QuestionPool).catch(String), { timeout: 20_000 })
      .toContain('"ids":["ask"]');
  },
);

/** The processes that have the rows of a home open and are not this one, as far as the system says. */
const questionProcesses = (directory: string): readonly number[] => {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid && mapsOf(pid).includes(`${directory}/rows`));
  } catch {
    return [];
  }
};
const mapsOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8');
  } catch {
    return '';
  }
};
