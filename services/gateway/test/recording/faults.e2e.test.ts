import { compareCodePoints } from '@stemma/canonical';
import { recordingFetch, type CallRecorder } from '@stemma/recorder';
import { filesHolding, programFile, sendAnswer, type ScriptedModels } from '@stemma/test-kit';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openRecording } from './fixture.ts';

let at: ReturnType<typeof openRecording>;
let models: ScriptedModels;
const servers: Server[] = [];
const children: ChildProcess[] = [];
beforeEach(async () => {
  at = openRecording();
  models = await at.provide((call, _, outgoing) => sendAnswer(call, outgoing, { text: 'Yes.' }));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await at.close();
});

const listen = async (listener: RequestListener, port = 0): Promise<number> => {
  const server = createServer(listener).listen(port, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const stopServers = async (): Promise<void> => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
};
/** A port on which nobody listens. */
const freePort = async (): Promise<number> => {
  const port = await listen(() => undefined);
  await stopServers();
  return port;
};
const bodyOf = (text: string): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] });
/** Makes a call, and expects the provider's answer, whatever happens to its recording. */
const call = async (
  calls: CallRecorder,
  text: string,
  options: { readonly history?: string } = {},
): Promise<void> => {
  const url = `${models.url}/v1/chat/completions`;
  const response = await recordingFetch({ calls, ...options })(url, { method: 'POST', body: bodyOf(text) });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  expect(choices[0]?.message.content).toBe('Yes.');
};
const questions = async (): Promise<string[]> =>
  (await at.recorded()).map(({ requestText }) => requestText ?? '').sort(compareCodePoints);
const asked = (...texts: string[]): string[] => texts.map(bodyOf).sort(compareCodePoints);

/** What a server does that takes no exchanges, and what is then said of it. */
const FAULTS: readonly (readonly [what: string, listener: RequestListener, error: string])[] = [
  ['accepts and never answers', () => undefined, 'no answer within 40 ms'],
  [
    'is full',
    (_, out) => out.writeHead(507).end('{"error":{"code":"E_IO","message":"full"}}'),
    'full (E_IO)',
  ],
  ['is busy', (_, out) => out.writeHead(503).end('busy'), 'it answers 503'],
  [
    'is older',
    (_, out) => out.writeHead(404).end('{"error":{"code":"E_NOT_FOUND","message":"no"}}'),
    'E_NOT_FOUND',
  ],
  ['is another program', (_, out) => out.end('<html>Welcome</html>'), 'it answers 200'],
  ['answers nonsense', (_, out) => out.writeHead(201).end('{"attempt_id":"another"}'), 'it answers 201'],
  ['ends the connection', (incoming) => incoming.destroy(), 'socket hang up'],
];

test(
  'a branch that is not there is said once; its calls are recorded in the history',
  { tags: ['calls§7.2'] },
  async () => {
    const port = await freePort();
    await at.serve(port);
    const calls = at.recorder({ url: `http://127.0.0.1:${port}` });
    for (const text of ['One', 'Two']) await call(calls, text, { history: 'talk:nosuch' });
    expect(await calls.flush({ timeout: 30_000 })).toBe(true);
    expect(at.said).toEqual([expect.stringMatching(/^the history talk has no branch "nosuch": /)]);
    expect(calls.status()).toMatchObject({ recorded: 2, refused: 0, lastError: null });
    expect(await questions()).toEqual(asked('One', 'Two'));
  },
);

describe('while the server', () => {
  test(
    'is away, calls go on and wait; that is said once, and they are recorded when it is back',
    { tags: ['calls§7.5'] },
    async () => {
      const port = await freePort();
      const calls = at.recorder({ url: `http://127.0.0.1:${port}` });
      for (const text of ['One', 'Two', 'Three']) await call(calls, text);
      expect(await calls.flush({ timeout: 60 })).toBe(false);
      expect(calls.status()).toMatchObject({ waiting: 3, recorded: 0, dropped: 0 });
      expect(calls.status().lastError).toContain('ECONNREFUSED');
      expect(at.said).toEqual([expect.stringMatching(/takes no calls now .* they wait/)]);
      expect(at.files().map((name) => name.split('.').at(-1))).toEqual(['exchange', 'exchange', 'exchange']);
      await at.serve(port);
      expect(await calls.flush({ timeout: 30_000 })).toBe(true);
      expect(calls.status()).toMatchObject({ waiting: 0, recorded: 3, lastError: null });
      expect(at.files()).toEqual([]);
      expect(await questions()).toEqual(asked('One', 'Two', 'Three'));
    },
  );

  test.each([
    ['takes several', 'when it is back, what waits goes out together', 3],
    ['is older and takes one at a time', 'what waits goes out all the same', 72],
  ])('%s, %s', { tags: ['long', 'calls§7.2', 'calls§7.5'] }, async (what, _then, most) => {
    const [port, asking] = [await freePort(), 70];
    const calls = at.recorder({ url: `http://127.0.0.1:${port}` });
    const texts = Array.from({ length: asking }, (_, i) => `Question ${i}`);
    for (const text of texts) await call(calls, text);
    expect(await calls.flush({ timeout: 20 })).toBe(false);
    const gateway = new URL(await at.serve());
    const paths: string[] = [];
    await listen((incoming, outgoing) => {
      const { url: path = '' } = incoming;
      paths.push(path);
      const isUnknown = what.includes('older') && path.endsWith('/batch');
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.on('end', () => {
        if (isUnknown) outgoing.writeHead(404).end('{"error":{"code":"E_NOT_FOUND","message":"no"}}');
        else passOn(gateway, Buffer.concat(pieces), outgoing, undefined, path);
      });
    }, port);
    expect(await calls.flush({ timeout: 60_000 })).toBe(true);
    expect(calls.status()).toMatchObject({ waiting: 0, recorded: asking, refused: 0 });
    expect(paths.length).toBeLessThanOrEqual(most);
    expect(at.files()).toEqual([]);
    expect(await questions()).toEqual(asked(...texts));
  });

  test(
    'records some of several and refuses others, each is what it would be alone',
    { tags: ['calls§7.5'] },
    async () => {
      const port = await freePort();
      const calls = at.recorder({ url: `http://127.0.0.1:${port}` });
      for (const text of ['One', 'Two', 'Three', 'Four', 'Five', 'Six']) await call(calls, text);
      expect(await calls.flush({ timeout: 20 })).toBe(false);
      const batches: number[] = [];
      let busy = true;
      await listen((incoming, outgoing) => {
        const pieces: Buffer[] = [];
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.on('end', () => {
          const { exchanges, id } = JSON.parse(Buffer.concat(pieces).toString()) as {
            exchanges?: { id: string }[];
            id?: string;
          };
          const error = (code: string) => ({ code, message: 'no', help: '', detail: {} });
          if (exchanges === undefined) {
            outgoing.end(JSON.stringify({ attempt_id: id }));
            return;
          }
          batches.push(exchanges.length);
          const states = [200, 400, busy ? 503 : 200];
          busy = false;
          const results = exchanges.slice(0, states.length).map((exchange, i) => ({
            ...{ id: exchange.id, status: states[i] },
            ...(states[i] === 200
              ? { answer: { attempt_id: exchange.id }, error: null }
              : { answer: null, error: error(states[i] === 400 ? 'E_COMMAND_INVALID' : 'E_BUSY') }),
          }));
          outgoing.end(JSON.stringify({ results }));
        });
      }, port);
      expect(await calls.flush({ timeout: 60_000 })).toBe(true);
      expect(calls.status()).toMatchObject({ waiting: 0, recorded: 4, refused: 2 });
      expect(batches).toEqual([5, 3]);
    },
  );

  test(
    'answers whatever it likes, or nothing, calls go on, and nothing is lost',
    { tags: ['calls§7.4', 'calls§7.5'] },
    async () => {
      let listener: RequestListener = () => undefined;
      const port = await listen((incoming, outgoing) => listener(incoming, outgoing));
      const times = { first: 5, longest: 20, answer: 40 };
      const calls = at.recorder({ url: `http://127.0.0.1:${port}`, ...{ times } });
      for (const [i, [, answer, error]] of FAULTS.entries()) {
        listener = answer;
        await call(calls, `Question ${i}`);
        await vi.waitFor(() => expect(calls.status().lastError).toContain(error), { timeout: 60_000 });
      }
      const waiting = FAULTS.length;
      expect(calls.status()).toMatchObject({ waiting, recorded: 0, dropped: 0, refused: 0 });
      await stopServers();
      await at.serve(port);
      expect(await calls.flush({ timeout: 30_000 })).toBe(true);
      expect(await questions()).toEqual(asked(...FAULTS.map((_, i) => `Question ${i}`)));
    },
  );

  test(
    'refuses a call or fails on it, the others go on, and the next recorder sends it again',
    { tags: ['calls§7.5'] },
    async () => {
      let refuses = true;
      const gateway = new URL(await at.serve());
      const port = await listen((incoming, outgoing) => {
        const pieces: Buffer[] = [];
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.on('end', () => {
          const body = Buffer.concat(pieces);
          if (refuses && body.includes('Two'))
            outgoing.writeHead(400).end('{"error":{"code":"E_COMMAND_INVALID","message":"no such field"}}');
          else if (refuses && body.includes('Three'))
            // It fails on this one whenever it gets it.
            outgoing.writeHead(500).end('{"error":{"code":"E_INTERNAL","message":"a fault"}}');
          else passOn(gateway, body, outgoing);
        });
      });
      const url = `http://127.0.0.1:${port}`;
      const first = at.recorder({ url });
      for (const text of ['One', 'Two', 'Three', 'Four']) await call(first, text);
      expect(await first.close({ timeout: 30_000 })).toBe(true);
      expect(first.status()).toMatchObject({ recorded: 2, refused: 2, waiting: 0 });
      expect(at.said[0]).toBe('a call cannot be recorded: no such field (E_COMMAND_INVALID)');
      refuses = false;
      expect(await at.recorder({ url }).flush()).toBe(true);
      expect(at.files()).toEqual([]);
      expect(await questions()).toEqual(asked('One', 'Two', 'Three', 'Four'));
    },
  );

  test(
    'goes after it recorded a call and before it said so, the call is recorded once',
    { tags: ['calls§7.2'] },
    async () => {
      const gateway = new URL(await at.serve());
      let lost = 0;
      const port = await listen((incoming, outgoing) => {
        const pieces: Buffer[] = [];
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.on('end', () => {
          if (lost++ < 2) passOn(gateway, Buffer.concat(pieces), undefined, () => outgoing.destroy());
          else passOn(gateway, Buffer.concat(pieces), outgoing);
        });
      });
      const calls = at.recorder({ url: `http://127.0.0.1:${port}` });
      await call(calls, 'One');
      expect(await calls.flush({ timeout: 30_000 })).toBe(true);
      expect(lost).toBe(3);
      expect(await questions()).toEqual(asked('One'));
    },
  );

  test(
    'is killed again and again, every call is recorded, and none twice',
    { tags: ['long', 'calls§7.2', 'calls§7.5'] },
    async () => {
      const port = await freePort();
      const up = async (): Promise<ChildProcess> => {
        const env = { ...process.env, STEMMA_HOME: at.home };
        const child = spawn(process.execPath, [programFile('stemma'), 'up', '--port', String(port)], {
          env,
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        children.push(child);
        await once(child.stdout, 'data');
        return child;
      };
      const calls = at.recorder({ url: `http://127.0.0.1:${port}` });
      const texts = Array.from({ length: 12 }, (_, i) => `Question ${i}`);
      let server = await up();
      for (const [i, text] of texts.entries()) {
        await call(calls, text);
        if (i === 5) server = await up();
        if (i !== 3 && i !== 8) continue;
        const ended = once(server, 'exit');
        server.kill('SIGKILL');
        await ended;
        if (i === 8) server = await up();
      }
      expect(await calls.flush({ timeout: 60_000 })).toBe(true);
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
      expect(await questions()).toEqual(asked(...texts));
    },
  );
});

/** Sends a body on to the gateway, and its answer back, or to `lose`. */
const passOn = (
  { port }: URL,
  body: Buffer,
  outgoing?: Parameters<RequestListener>[1],
  lose?: () => void,
  path = '/api/exchanges',
): void => {
  const headers = { 'content-type': 'application/json' };
  const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers });
  sent.on('response', (response) => {
    if (outgoing !== undefined) response.pipe(outgoing.writeHead(response.statusCode ?? 500));
    else response.on('end', () => lose?.()).resume();
  });
  sent.end(body);
};

const NOT_MOUNTED = 'only root may mount a file system of a known size';

describe('the spool', () => {
  test(
    'is bounded: what finds no room is counted and said, and the calls go on',
    { tags: ['calls§7.6'] },
    async () => {
      const calls = at.recorder({ url: `http://127.0.0.1:${await freePort()}`, limit: 2_000 });
      for (let i = 0; i < 6; i++) await call(calls, `Question ${i}`);
      const { waiting, dropped } = calls.status();
      expect([waiting + dropped, dropped > 2, waiting > 0]).toEqual([6, true, true]);
      expect(at.said.filter((sentence) => sentence.includes('2000 bytes'))).toHaveLength(1);
    },
  );

  test('holds files for their owner alone', { tags: ['calls§7.5'] }, async () => {
    const calls = at.recorder({ url: `http://127.0.0.1:${await freePort()}` });
    await call(calls, 'One');
    const { directory } = calls.status();
    const [file = ''] = readdirSync(directory ?? '');
    expect([
      statSync(directory ?? '').mode & 0o777,
      statSync(join(directory ?? '', file)).mode & 0o777,
    ]).toEqual([0o700, 0o600]);
  });

  test(
    'that cannot be written is replaced by memory, and that is said',
    { tags: ['calls§7.6'] },
    async () => {
      const blocked = join(at.directory, 'blocked');
      writeFileSync(blocked, '');
      const calls = at.recorder({ url: await at.serve(), directory: join(blocked, 'spool') });
      await call(calls, 'One');
      expect(await calls.flush()).toBe(true);
      expect(calls.status()).toMatchObject({ recorded: 1, directory: null });
      expect(at.said).toEqual([expect.stringMatching(/cannot be kept on disk .* wait in memory/)]);
    },
  );

  test('on a full disk is replaced by memory while it is full', { tags: ['calls§7.6'] }, async ({ skip }) => {
    mkdirSync(at.spool);
    const mount = ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', at.spool];
    if (spawnSync('mount', mount).status !== 0) skip(NOT_MOUNTED);
    try {
      const url = `http://127.0.0.1:${await freePort()}`;
      const calls = at.recorder({ url });
      for (let i = 0; i < 12; i++) await call(calls, `Question ${i} ${'x'.repeat(4_000)}`);
      expect(calls.status()).toMatchObject({ waiting: 12, dropped: 0 });
      expect(at.said.join()).toContain('ENOSPC');
      await at.serve(Number(new URL(url).port));
      expect(await calls.flush({ timeout: 30_000 })).toBe(true);
      expect(await questions()).toHaveLength(12);
      await calls.close();
    } finally {
      spawnSync('umount', ['-l', at.spool]);
    }
  });

  test(
    'with damaged, cut off and foreign files gives what is whole, once, and says what is not',
    { tags: ['calls§7.5'] },
    async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const first = at.recorder({ url });
      for (const text of ['One', 'Two', 'Three', 'Four']) await call(first, text);
      await first.close({ timeout: 0 });
      const folder = left(at.spool);
      const files = readdirSync(folder)
        .sort(compareCodePoints)
        .map((name) => join(folder, name));
      truncateSync(files[1] as string, statSync(files[1] as string).size - 5);
      const bytes = readFileSync(files[2] as string);
      bytes[200] = (bytes[200] as number) ^ 1;
      writeFileSync(files[2] as string, bytes);
      copyFileSync(files[0] as string, (files[0] as string).replace('.exchange', '.open'));
      writeFileSync(join(folder, 'half.tmp'), 'st');
      writeFileSync(join(folder, 'README'), 'not ours');
      await at.serve(port);
      const second = at.recorder({ url });
      expect(await second.flush({ timeout: 30_000 })).toBe(true);
      expect(at.said.filter((sentence) => sentence.includes('damaged'))).toHaveLength(1);
      expect(at.files().map((name) => name.replace(/^\d.*\./, ''))).toEqual(['damaged', 'damaged', 'README']);
      expect(await questions()).toEqual(asked('One', 'Four'));
    },
  );

  test(
    'never holds what the rules take out, nor does anything else; without readable rules nothing is recorded',
    { tags: ['calls§7.7'] },
    async () => {
      const secret = 'B-123456';
      const redact = { patterns: [{ name: 'badge', pattern: 'B-\\d{6}' }] };
      const calls = at.recorder({ url: `http://127.0.0.1:${await freePort()}`, redact });
      await call(calls, `My badge is ${secret}`);
      await call(calls, `My badge is still ${secret}`);
      expect(at.files()).toHaveLength(2);
      expect(filesHolding(at.spool, [secret])).toEqual([]);
      const none = at.recorder({
        url: await at.serve(),
        redact: { patterns: [{ name: 'x', pattern: '(' }] },
      });
      await call(none, `My badge is ${secret}`);
      expect(none.status()).toMatchObject({ dropped: 1, waiting: 0 });
      expect(at.said.join()).toMatch(/no call is recorded: the pattern x/);
      expect(filesHolding(at.directory, [secret])).toEqual([]);
    },
  );
});

/** The only folder of a spool that has files. */
const left = (spool: string): string =>
  readdirSync(spool, { recursive: true, withFileTypes: true }).find((entry) => entry.isFile())?.parentPath ??
  '';

describe('a process', () => {
  /** @param patience milliseconds that it waits for the server when it ends: a machine may be slow */
  const run = (
    url: string,
    count: number,
    then: string,
    patience = 120_000,
  ): ChildProcess & { said: () => string } => {
    const own = { STEMMA_URL: url, STEMMA_SPOOL: at.spool, AGENT_EXIT_TIMEOUT: String(patience) };
    const env = { ...process.env, ...own };
    const program = join(import.meta.dirname, 'agent.ts');
    const child = spawn(process.execPath, [program, models.url, String(count), then], { env });
    children.push(child);
    let text = '';
    child.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
    child.stderr.on('data', (piece: Buffer) => (text += piece.toString()));
    return Object.assign(child, { said: () => text });
  };
  const until = (child: { said: () => string }, word: string): Promise<void> =>
    vi.waitFor(() => expect(child.said()).toContain(word), { timeout: 60_000 });

  test(
    'that ends has sent its calls; without a server it ends all the same, and says it once',
    { tags: ['long', 'calls§7.4'] },
    async () => {
      const good = run(await at.serve(), 2, 'end');
      expect((await once(good, 'exit'))[0]).toBe(0);
      expect(good.said()).not.toContain('stemma:');
      expect(await questions()).toHaveLength(2);
      const silent = await listen(() => undefined);
      for (const port of [await freePort().catch(() => 1), silent]) {
        const alone = run(`http://127.0.0.1:${port}`, 2, 'end', 2_000);
        const began = performance.now();
        expect((await once(alone, 'exit'))[0]).toBe(0);
        expect(performance.now() - began).toBeLessThan(30_000);
        expect(alone.said().match(/Yes\./g)).toHaveLength(2);
      }
      expect(at.files()).toHaveLength(4);
    },
  );

  test(
    'that is killed loses no call that was answered; the open one is unknown; the next process sends both',
    { tags: ['long', 'calls§7.5'] },
    async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      await models.close();
      models = await at.provide((asked, _, outgoing) => {
        if (asked.body.includes('without end')) outgoing.writeHead(200).write('data: {}\n\n');
        else sendAnswer(asked, outgoing, { text: 'Yes.' });
      });
      const killed = run(url, 3, 'middle');
      await until(killed, 'middle');
      const ended = once(killed, 'exit');
      killed.kill('SIGKILL');
      await ended;
      await at.serve(port);
      const next = run(url, 1, 'end');
      await once(next, 'exit');
      expect(at.files()).toEqual([]);
      const found = await at.recorded();
      expect(found.map(({ status }) => status).sort(compareCodePoints)).toEqual([
        ...['answered', 'answered', 'answered', 'answered', 'unknown'],
      ]);
    },
  );

  test(
    'shares its spool with others: each sends what is its own, and what the killed ones left is sent once',
    { tags: ['calls§7.8'] },
    async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const two = [run(url, 4, 'answered-all'), run(url, 4, 'answered-all')];
      for (const child of two) await until(child, 'answered-all');
      for (const child of two) {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }
      expect(at.files().map((name) => name.split('.').at(-1))).toEqual(Array(8).fill('exchange'));
      await at.serve(port);
      const three = [run(url, 2, 'end'), run(url, 2, 'end'), run(url, 2, 'end')];
      await Promise.all(three.map((child) => once(child, 'exit')));
      expect(at.files()).toEqual([]);
      const found = await questions();
      expect([found.length, new Set(found).size]).toEqual([14, 14]);
    },
  );
});

test('without a server, calls are recorded in a home of the process', { tags: ['calls§7.2'] }, async () => {
  const calls = at.recorder({ home: at.home });
  for (const text of ['One', 'Two']) await call(calls, text);
  expect(await calls.close()).toBe(true);
  expect(calls.status()).toMatchObject({ recorded: 2, waiting: 0, lastError: null });
  expect(await questions()).toEqual(asked('One', 'Two'));
});
