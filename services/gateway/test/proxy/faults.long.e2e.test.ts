import { branchRefOf } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { filesHolding, programFile, sized } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serveHome } from '../../src/index.ts';
import { chatAnswer, chatEvents, startUpstream, type Script, type Upstream } from './scripted-upstream.ts';

let directory: string;
let upstream: Upstream | undefined;
const children: { readonly kill: () => Promise<void> }[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-faults-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  await upstream?.close();
  upstream = undefined;
  rmSync(directory, { recursive: true, force: true });
});

type GatewayProcess = {
  readonly url: string;
  /** What it has printed so far. */
  readonly printed: () => string;
  /** As `kill -9` does. */
  readonly kill: () => Promise<void>;
};

/** A gateway in a process of its own, and the upstream of its proxy. */
const start = async (script: Script): Promise<GatewayProcess> => {
  upstream = await startUpstream(script);
  const child = spawn(process.execPath, [programFile('gateway')], {
    env: {
      ...process.env,
      STEMMA_HOME: directory,
      STEMMA_PORT: '0',
      STEMMA_UPSTREAM_OPENAI: `${upstream.url}/v1`,
      STEMMA_UPSTREAM_ANTHROPIC: upstream.url,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (printed += piece.toString()));
  const gateway = {
    printed: () => printed,
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
  children.push(gateway);
  await expect.poll(() => /http:\S+/.exec(printed)?.[0]).toBeDefined();
  return { ...gateway, url: /http:\S+/.exec(printed)?.[0] as string };
};

/** The home, after another gateway has recorded what the last one left. */
const recorded = async (): Promise<Home> => {
  const warnings: string[] = [];
  const gateway = await serveHome({
    home: { directory },
    port: 0,
    warn: (sentence) => void warnings.push(sentence),
  });
  expect(await gateway.drained(120_000)).toBe(0);
  await gateway.close();
  expect(warnings).toEqual([]);
  return openHome({ directory });
};

const chat = (text: string, more: object = {}): string =>
  JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: text }], ...more });
const post = (url: string, body: string, options: RequestInit = {}): Promise<Response> =>
  fetch(url, { method: 'POST', body, ...options });
const askedIn = (body: Uint8Array | string): string =>
  /"content":"([^"]+)"/.exec(Buffer.from(body).toString())?.[1] ?? '';

/** The status of every call, by what it asked. */
const statuses = async (home: Home): Promise<Record<string, string>> => {
  const found: Record<string, string> = {};
  for (const { history } of await home.read.histories())
    for (const { attemptId, status } of (await home.calls.list(branchRefOf(history, 0))).attempts)
      found[askedIn(await home.calls.body(history, attemptId, 'request'))] = status;
  return found;
};

/** One of the bodies of every call, by what it asked. */
const bodies = async (home: Home, which: 'response'): Promise<Record<string, string>> => {
  const found: Record<string, string> = {};
  for (const { history } of await home.read.histories())
    for (const { attemptId, response } of (await home.calls.list(branchRefOf(history, 0))).attempts)
      if (response !== null)
        found[askedIn(await home.calls.body(history, attemptId, 'request'))] = Buffer.from(
          await home.calls.body(history, attemptId, which),
        ).toString();
  return found;
};

test(
  'an upstream that hangs is waited for as long as the client waits, before its answer and in the middle',
  { tags: ['calls§4.3'] },
  async () => {
    const hanging: Promise<unknown>[] = [];
    const { url } = await start(({ body }, outgoing) => {
      const what = askedIn(body);
      if (what === 'slow') {
        // Longer than a connection to an upstream is kept without a call.
        setTimeout(() => outgoing.end(chatAnswer('At last')), sized(200, 6_000));
        return;
      }
      hanging.push(once(outgoing, 'close'));
      if (what === 'middle') {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        outgoing.write(chatEvents(['One'])[0]);
      }
    });
    const to = `${url}/proxy/run/r/openai/chat/completions`;
    expect(await (await post(to, chat('slow'))).text()).toBe(chatAnswer('At last'));
    const client = new AbortController();
    const { signal } = client;
    const before = post(to, chat('before'), { signal }).then(
      () => 'answered',
      () => 'gone',
    );
    const middle = await post(to, chat('middle', { stream: true }), { signal });
    await (middle.body as ReadableStream<Uint8Array>).getReader().read();
    await expect.poll(() => hanging.length).toBe(2);
    client.abort();
    expect(await before).toBe('gone');
    // The upstream is no longer asked, either.
    await Promise.all(hanging);
    await expect
      .poll(async () => (await fetch(`${url}/metrics`)).text())
      .toMatch(/outcome="recorded"[^}]*\} 3/);
    await children.splice(0)[0]?.kill();
    const home = await recorded();
    expect(await statuses(home)).toEqual({ slow: 'answered', before: 'cancelled', middle: 'cancelled' });
    await home.close();
  },
);

test(
  'a gateway that is killed among many streams loses none that had ended, and of those that had not what their clients had',
  { tags: ['calls§4.5'] },
  async () => {
    const many = sized(20, 100);
    const { url, kill } = await start(({ body }, outgoing) => {
      const what = askedIn(body);
      const events = chatEvents([what, ' it', ' is']);
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      if (what.startsWith('open')) outgoing.write(events[0]);
      else outgoing.end(events.join(''));
    });
    const to = `${url}/proxy/run/r/openai/chat/completions`;
    const names = (kind: string): string[] => Array.from({ length: many }, (_, i) => `${kind} ${i}`);
    const open = names('open').map(async (name) => {
      const response = await post(to, chat(name, { stream: true }));
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      return reader.read().catch(() => undefined);
    });
    const ended = await Promise.all(
      names('ended').map(async (name) => (await post(to, chat(name, { stream: true }))).text()),
    );
    names('ended').forEach((name, i) => expect(ended[i]).toBe(chatEvents([name, ' it', ' is']).join('')));
    await expect.poll(() => upstream?.received.length).toBe(2 * many);
    await kill();
    await Promise.all(open);
    const home = await recorded();
    const found = await statuses(home);
    // The client has all of these: none may be missing.
    expect(Object.entries(found).filter(([name]) => name.startsWith('ended'))).toEqual(
      expect.arrayContaining(names('ended').map((name) => [name, 'answered'])),
    );
    // Of the others it has a beginning, which was recorded or noted, and what came of the answer.
    for (const [name, status] of Object.entries(found))
      if (name.startsWith('open')) expect(status).toBe('failed');
    const answers = await bodies(home, 'response');
    for (const name of names('open')) expect(answers[name]).toBe(chatEvents([name, ' it', ' is'])[0]);
    await home.close();
  },
);

test(
  'no key is in a file, a row, an event or a printed line, also of a gateway that was killed',
  { tags: ['calls§4.2'] },
  async () => {
    const { url, printed, kill } = await start(({ body }, outgoing) => {
      const what = askedIn(body);
      const headers = { 'set-cookie': 'session=COOKIE-OUT-7e1d', 'x-request-id': 'r-1' };
      if (what === 'reset') outgoing.destroy();
      else if (what === 'refused')
        outgoing.writeHead(401, headers).end('{"error":{"message":"no such key"}}');
      else if (what === 'moved')
        outgoing.writeHead(302, { ...headers, location: 'http://127.0.0.1:9/?key=LOCATION-KEY-7e1d' }).end();
      else if (what === 'hangs') outgoing.writeHead(200, headers).flushHeaders();
      else if (what === 'stream')
        outgoing
          .writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
          .end(chatEvents(['Yes']).join(''));
      else outgoing.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(chatAnswer('Yes'));
    });
    const keys = [
      ...['BEARER-KEY-7e1d', 'X-API-KEY-7e1d', 'COOKIE-IN-7e1d', 'COOKIE-OUT-7e1d', 'QUERY-KEY-7e1d'],
      ...['AZURE-KEY-7e1d', 'PROXY-KEY-7e1d', 'LOCATION-KEY-7e1d'],
    ];
    const headers = {
      ...{ authorization: 'Bearer BEARER-KEY-7e1d', 'x-api-key': 'X-API-KEY-7e1d' },
      ...{ cookie: 'c=COOKIE-IN-7e1d', 'api-key': 'AZURE-KEY-7e1d', 'x-goog-api-key': 'PROXY-KEY-7e1d' },
    };
    const paths = ['openai/chat/completions', 'openai/responses', 'anthropic/v1/messages', 'openai/models'];
    for (const path of paths)
      for (const what of ['plain', 'stream', 'refused', 'reset', 'moved'])
        await post(`${url}/proxy/run/r/${path}?api-key=QUERY-KEY-7e1d`, chat(what), {
          headers,
          redirect: 'manual',
        }).then(
          (response) => response.text(),
          () => undefined,
        );
    // What the proxy refuses itself is an answer with a reason, too.
    for (const path of ['nowhere', 'run/a%2Fb/openai'])
      await (await post(`${url}/proxy/${path}?key=QUERY-KEY-7e1d`, chat('x'), { headers })).text();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const client = new AbortController();
    const open = post(`${url}/proxy/run/r/openai/chat/completions?key=QUERY-KEY-7e1d`, chat('hangs'), {
      ...{ headers, signal: client.signal },
    });
    await (await open).body?.cancel().catch(() => undefined);
    await kill();
    client.abort();
    expect(filesHolding(directory, keys)).toEqual([]);
    const home = await recorded();
    expect(filesHolding(directory, keys)).toEqual([]);
    // Bodies are compressed where they are kept: here as they are given back.
    const read: string[] = [printed(), metrics, JSON.stringify(await home.operations.stats(), texts)];
    let calls = 0;
    for (const { history } of await home.read.histories()) {
      read.push(JSON.stringify(await home.read.events(history), texts));
      const { attempts } = await home.calls.list(branchRefOf(history, 0));
      for (const { attemptId, request, response } of attempts) {
        calls++;
        read.push(JSON.stringify(await home.calls.find(history, attemptId), texts));
        for (const which of ['request', 'response'] as const)
          if ({ request, response }[which] !== null)
            read.push(Buffer.from(await home.calls.body(history, attemptId, which)).toString());
      }
    }
    expect(calls).toBeGreaterThan(3);
    expect(read.filter((text) => text.includes('7e1d'))).toEqual([]);
    await home.close();
  },
);

const texts = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
