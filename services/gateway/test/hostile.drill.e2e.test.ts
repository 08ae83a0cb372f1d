import { createClient, fromWireJson } from '@stemma/api';
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sized, programFile } from '@stemma/test-kit';
import { block, commit } from './airline.ts';

/** In milliseconds, the shortest first. */
type Latencies = {
  readonly gateway: readonly number[];
  readonly bare: readonly number[];
  readonly failed: number;
};

/** What `/health/live` may take, in milliseconds. */
const LIMIT = 300;

const directory = mkdtempSync(join(tmpdir(), 'stemma-hostile-'));
const children: ChildProcess[] = [];
const sockets: Socket[] = [];
let url = '';
let port = 0;
let server: ChildProcess;
let probe: ChildProcess;

beforeAll(async () => {
  const program = programFile('gateway');
  server = spawn(process.execPath, ['--import', join(import.meta.dirname, 'children/turns.ts'), program], {
    env: {
      ...process.env,
      STEMMA_HOME: directory,
      STEMMA_PORT: '0',
      STEMMA_QUERY_TIMEOUT: '4',
      TURNS_OF: program,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  children.push(server);
  const [line] = (await once(server.stdout as NonNullable<typeof server.stdout>, 'data')) as [Buffer];
  url = /http:\S+/.exec(line.toString())?.[0] ?? '';
  port = Number(new URL(url).port);
  const client = createClient(fetch, url);
  await client.start({ body: { id: 'start', recorder: 'agent', name: 'wide' } });
  for (let cycle = 1; cycle <= 2; cycle++) {
    const blocks = Array.from({ length: 1_000 }, (_, i) => block(`n${cycle}-${i}`, `text ${i}`));
    await client.command({
      history: 'wide',
      body: { id: `c${cycle}`, recorder: 'agent', steps: [...blocks, commit(cycle)] },
    });
  }
  probe = fork(join(import.meta.dirname, 'children/probe.ts'), [String(port)]);
  children.push(probe);
  await once(probe, 'message');
}, 120_000);

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  try {
    probe.kill('SIGKILL');
    server.kill('SIGTERM');
    const [code] = (await once(server, 'exit', { signal: AbortSignal.timeout(50_000) })) as [number];
    expect(code).toBe(0);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}, 60_000);

const latencies = async (): Promise<Latencies> => {
  const answer = once(probe, 'message') as Promise<[Latencies]>;
  probe.send('now');
  return (await answer)[0];
};

/** What the longest turn of the thread that holds the connections took of a processor since the last time, and how long it was kept from one. */
const longestTurn = async (): Promise<{ readonly turn: number; readonly wait: number }> => {
  const answer = once(server, 'message') as Promise<[{ turn: number; wait: number }]>;
  server.send('now');
  return (await answer)[0];
};

const percentile = (sorted: readonly number[], of: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * of))] ?? 0;

/**
 * What the health of the server took while something went on: 19 of 20 times no more than the limit, unless a server that does
 * nothing takes half of it then. The longest may take twice as long as there, too, and as long as the thread that answers was kept
 * from a processor: on a machine that others use, whoever has anything to do waits longer for its turn. But no turn of that thread
 * works for longer than the limit, whoever uses the machine.
 */
const during = async (attack: () => Promise<void>): Promise<void> => {
  await Promise.all([latencies(), longestTurn()]);
  await attack();
  const [{ gateway, bare, failed }, { turn, wait }] = await Promise.all([latencies(), longestTurn()]);
  const [most, mostBare] = [percentile(gateway, 0.95), percentile(bare, 0.95)];
  const [longest, longestBare] = [percentile(gateway, 1), percentile(bare, 1)];
  expect({
    failed,
    blocked: turn > LIMIT && turn,
    slow: most > LIMIT && mostBare <= LIMIT / 2 ? { most, mostBare } : false,
    tooSlow: longest > LIMIT + 2 * longestBare + wait ? { longest, longestBare, wait } : false,
  }).toEqual({ failed: 0, blocked: false, slow: false, tooSlow: false });
  expect(gateway.length).toBeGreaterThan(0);
};

const open = (text = ''): { readonly socket: Socket; text: string; closed: boolean } => {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const seen = { socket, text: '', closed: false };
  socket.on('error', () => undefined).on('close', () => (seen.closed = true));
  socket.on('data', (data: Buffer) => (seen.text += data.toString('latin1')));
  socket.write(text);
  return seen;
};
const post = async (body: string | Buffer<ArrayBuffer>): Promise<readonly [number, string]> => {
  const response = await fetch(`${url}/api/histories/wide/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { error } = fromWireJson(await response.text()) as { error?: { code: string } };
  return [response.status, error?.code ?? ''];
};
/** The most memory that the server had, in MiB; undefined where the system does not say. */
const peakMemory = (): number | undefined => {
  try {
    const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? [];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
};

test('after 64 HEAD requests for the stream a stream still opens', async () => {
  await during(async () => {
    const heads = Array.from({ length: 64 }, () => fetch(`${url}/api/events`, { method: 'HEAD' }));
    expect(new Set((await Promise.all(heads)).map(({ status }) => status))).toEqual(new Set([405]));
    const stream = await fetch(`${url}/api/events`);
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  });
});

test(
  '80 MB of empty steps are refused while they arrive, and delay no other request',
  { timeout: 60_000 },
  async () => {
    const before = peakMemory();
    await during(async () => {
      const body = `{"id":"a","recorder":"r","steps":[${'{},'.repeat(27_000_000)}{}]}`;
      expect(await post(body)).toEqual([413, 'E_INPUT_TOO_LARGE']);
    });
    await during(async () => {
      const body = `{"id":"a","recorder":"r","steps":[${'{},'.repeat(900_000)}{}]}`;
      expect(await post(body)).toEqual([400, 'E_COMMAND_INVALID']);
    });
    if (before !== undefined) expect((peakMemory() ?? 0) - before).toBeLessThan(700);
  },
);

test.each([
  ['of escaped quotes', 'E_COMMAND_INVALID', (size: number) => `["${'\\"'.repeat(size / 2)}"]`],
  [
    'of two million texts',
    'E_COMMAND_INVALID',
    (size: number) => `[1${`,"${'x'.repeat(size / 2e6)}"`.repeat(1_900_000)}]`,
  ],
  [
    'of contents that are answered as they are recorded',
    'accepted',
    (size: number, i: number) => JSON.stringify([block(`large-${i}`, 'x'.repeat(size * 0.9))]),
  ],
])(
  'eight clients that send 70 MB each at once, %s, are answered or refused, and delay no other request',
  { timeout: 240_000 },
  async (_, expected, steps) => {
    const size = sized(30_000_000, 70_000_000);
    const bodies = Array.from({ length: 8 }, (_, i) =>
      Buffer.from(`{"id":"${expected}-${i}","recorder":"r","steps":${steps(size, i)}}`),
    );
    await during(async () => {
      const outcomes = await Promise.all(
        bodies.map((body) =>
          post(body).then(
            ([status, code]) => (status === 200 ? 'accepted' : code),
            // A body that is refused is not read to its end: the answer may be lost with the connection.
            () => 'E_BUSY',
          ),
        ),
      );
      expect(outcomes).toContain(expected);
      for (const outcome of outcomes) expect([expected, 'E_BUSY', 'E_ROWS_BEHIND']).toContain(outcome);
    });
  },
);

test(
  '20 wide selections are answered or refused with a code, and delay no other request',
  { timeout: 60_000 },
  async () => {
    await during(async () => {
      const selector = encodeURIComponent(`@* ${Array(40).fill('* *').join(', ')}`);
      const asked = Array.from({ length: 20 }, async () => {
        const response = await fetch(`${url}/api/histories/wide/select?selector=${selector}`);
        const { error } = fromWireJson(await response.text()) as { error?: { code: string } };
        return response.ok ? 'answered' : (error?.code ?? response.status);
      });
      for (const outcome of await Promise.all(asked))
        expect(['answered', 'E_QUERY_TIMEOUT', 'E_SELECTOR_INVALID', 'E_BUSY']).toContain(outcome);
      // Who asks for little is answered meanwhile and afterwards.
      expect((await fetch(`${url}/api/histories`)).status).toBe(200);
    });
    const least = async (): Promise<number> =>
      (await fetch(`${url}/api/histories/wide/select?selector=${encodeURIComponent('@c1 #n1-1')}`)).status;
    await expect.poll(least, { timeout: 20_000 }).toBe(200);
  },
);

test(
  '40 requests for a diagnosis are answered or refused with a code, by other processes, and delay no other request',
  { timeout: 60_000 },
  async () => {
    // On a slow machine each of them may take longer than a question may: it is given to another process all the same.
    const counted = async (): Promise<number> => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      const counts = [...metrics.matchAll(/^stemma_questions_total\{outcome="\w+"\} (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await counted();
    await during(async () => {
      const asked = Array.from({ length: 40 }, async () => {
        const response = await fetch(`${url}/api/doctor`);
        const answer = fromWireJson(await response.text()) as {
          error?: { code: string };
          histories?: number;
        };
        return response.ok ? answer.histories : answer.error?.code;
      });
      for (const outcome of await Promise.all(asked))
        expect([1, 'E_QUERY_TIMEOUT', 'E_BUSY']).toContain(outcome);
    });
    expect(await counted()).toBeGreaterThan(before);
  },
);

test(
  'a program that requests wide selections on 500 connections does not delay others: one query process is reserved for other programs',
  { timeout: 60_000 },
  async ({ skip }) => {
    if (process.platform !== 'linux') skip('only Linux says which program a connection belongs to');
    const selector = encodeURIComponent(`@c1..@c2 ${Array(40).fill('* *').join(', ')}`);
    const path = `/api/histories/wide/select?selector=${selector}`;
    const flood = fork(join(import.meta.dirname, 'children/flood.ts'), [
      String(port),
      String(sized(100, 500)),
      path,
    ]);
    children.push(flood);
    const answers = async (): Promise<number> => {
      const answer = once(flood, 'message') as Promise<[number]>;
      flood.send('now');
      return (await answer)[0];
    };
    await expect.poll(answers, { timeout: 30_000 }).toBeGreaterThan(0);
    const took: number[] = [];
    for (let i = 0; i < 4; i++) {
      const began = performance.now();
      const asked = `${url}/api/histories/wide/select?selector=${encodeURIComponent('@c1 #n1-1')}`;
      const ask = async (): Promise<string> => {
        const response = await fetch(asked);
        const text = await response.text();
        return response.ok ? 'answered' : text;
      };
      await expect.poll(ask, { timeout: 20_000, interval: 1_000 }).toBe('answered');
      took.push(performance.now() - began);
    }
    const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
    await expect.poll(metrics, { timeout: 20_000 }).toMatch(/stemma_questions_total\{outcome="busy"\} [1-9]/);
    flood.kill('SIGKILL');
    expect(Math.max(...took)).toBeLessThan(15_000);
  },
);

test(
  'requests with slow bodies are answered with 408 in time, and a thousand idle connections do not block new clients',
  { timeout: 60_000 },
  async () => {
    await during(async () => {
      const idle = Array.from({ length: 1_000 }, () => open());
      const slow = Array.from({ length: 50 }, () =>
        open(
          `POST /api/histories HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n`,
        ),
      );
      const drip = setInterval(() => slow.forEach(({ socket }) => socket.write(' ')), 200);
      expect((await fetch(`${url}/api/histories`)).status).toBe(200);
      expect((await post('{}'))[1]).toBe('E_COMMAND_INVALID');
      await expect.poll(() => slow.filter(({ closed }) => !closed).length, { timeout: 30_000 }).toBe(0);
      clearInterval(drip);
      expect(slow.filter(({ text }) => !text.startsWith('HTTP/1.1 408')).length).toBe(0);
      expect(idle.length).toBe(1_000);
    });
  },
);
