import { branchRefOf } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { filesHolding, programFile, sized } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { serveHome, upstreamsOf } from '../../src/index.ts';
import { chatAnswer, chatEvents, startUpstream, type Script, type Upstream } from './scripted-upstream.ts';

/** At a time. */
const STREAMS = sized(30, 200);

let directory: string;
let upstream: Upstream | undefined;
let gateway: Awaited<ReturnType<typeof serveHome>> | undefined;
const warnings: string[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-proxy-'));
  warnings.length = 0;
});
afterEach(async () => {
  await gateway?.close();
  await upstream?.close();
  [gateway, upstream] = [undefined, undefined];
  rmSync(directory, { recursive: true, force: true });
});

const open = async (script: Script, address?: string): Promise<string> => {
  upstream = await startUpstream(script);
  const STEMMA_UPSTREAM_OPENAI = address ?? `${upstream.url}/v1`;
  gateway = await serveHome({
    home: { directory, create: true },
    port: 0,
    upstreams: upstreamsOf({ STEMMA_UPSTREAM_OPENAI, STEMMA_UPSTREAM_ANTHROPIC: upstream.url }),
    warn: (sentence) => warnings.push(sentence),
  });
  return `${gateway.url}/proxy`;
};
/** What is recorded when the gateway has closed. */
const recorded = async (): Promise<Home> => {
  // A machine that is busy takes longer than a gateway that closes waits.
  expect(await gateway?.drained(120_000)).toBe(0);
  await gateway?.close();
  gateway = undefined;
  return openHome({ directory });
};
const chat = (text: string, more: object = {}): string =>
  JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: text }], ...more });
const post = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
const onlyBranch = async (home: Home) => {
  const [history, ...more] = await home.read.histories();
  expect(more).toEqual([]);
  return branchRefOf(history?.history as string, 0);
};

describe('the proxy', () => {
  test(
    'passes bytes, status and headers on as they are, and records the bodies byte for byte',
    { tags: ['calls§4.1'] },
    async () => {
      const answer = gzipSync(chatAnswer('Hello'));
      const url = await open((_, outgoing) => {
        outgoing.writeHead(200, 'Fine', [
          ...['Content-Type', 'application/json', 'Content-Encoding', 'gzip'],
          ...[
            'X-Request-Id',
            'r-1',
            'Set-Cookie',
            'a=1',
            'Set-Cookie',
            'b=2',
            'Connection',
            'X-Hop',
            'X-Hop',
            '1',
          ],
        ]);
        outgoing.end(answer);
      });
      const body = chat('Grüße');
      const { port, pathname } = new URL(`${url}/history/talk/openai/chat/completions`);
      const sent = request({
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: `${pathname}?key=QUERYKEY1`,
        headers: {
          'Accept-Encoding': 'gzip',
          'X-Own': 'yes',
          Connection: 'keep-alive, X-Mine',
          'X-Mine': '1',
        },
      });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      expect(response.statusMessage).toBe('Fine');
      expect(Buffer.concat(pieces).equals(answer)).toBe(true);
      expect(response.headers).toMatchObject({ 'x-request-id': 'r-1', 'set-cookie': ['a=1', 'b=2'] });
      expect(response.headers['x-hop']).toBe(undefined);
      const got = upstream?.received[0];
      expect(got?.url).toBe('/v1/chat/completions?key=QUERYKEY1');
      expect(got?.body.toString()).toBe(body);
      const names = got?.rawHeaders.filter((_, i) => i % 2 === 0);
      expect(names).toContain('X-Own');
      expect(names).not.toContain('X-Mine');
      const home = await recorded();
      const branch = await home.find('talk');
      const { attempts } = await home.calls.list(branch);
      expect(attempts).toMatchObject([
        {
          cycle: 1,
          api: 'openai.chat',
          model: 'm-1',
          status: 'answered',
          httpStatus: 200,
          finishReason: 'stop',
        },
      ]);
      const id = attempts[0]?.attemptId as string;
      expect(Buffer.from(await home.calls.body(branch.history, id, 'request')).toString()).toBe(body);
      expect(Buffer.from(await home.calls.body(branch.history, id, 'response')).equals(answer)).toBe(true);
      expect((await home.calls.find(branch.history, id)).answer).toEqual({
        role: 'assistant',
        content: 'Hello',
      });
      await home.close();
    },
  );

  test(
    'stores no key, cookie or query anywhere, whatever happens to the call',
    { tags: ['calls§4.2'] },
    async () => {
      const url = await open(({ body }, outgoing) => {
        if (body.includes('reset')) outgoing.destroy();
        else if (body.includes('refuse'))
          outgoing.writeHead(401, { 'set-cookie': 's=COOKIEOUT1' }).end('{"error":{"message":"no"}}');
        else outgoing.writeHead(302, { location: 'http://127.0.0.1:9/?k=1' }).end();
      });
      const secrets = ['BEARERKEY1', 'XAPIKEY1', 'COOKIEIN1', 'COOKIEOUT1', 'QUERYKEY1'];
      for (const text of ['refuse', 'reset', 'move'])
        await fetch(`${url}/openai/chat/completions?api_key=QUERYKEY1`, {
          method: 'POST',
          redirect: 'manual',
          body: chat(text),
          headers: { authorization: 'Bearer BEARERKEY1', 'x-api-key': 'XAPIKEY1', cookie: 'c=COOKIEIN1' },
        }).then(
          (response) => response.text(),
          () => undefined,
        );
      expect(upstream?.received).toHaveLength(3);
      expect(filesHolding(directory, secrets)).toEqual([]);
      const home = await recorded();
      expect(filesHolding(directory, secrets)).toEqual([]);
      expect(warnings.join()).not.toMatch(new RegExp(secrets.join('|')));
      const states = await Promise.all(
        (await home.read.histories()).map(
          async ({ history }) => (await home.calls.list(branchRefOf(history, 0))).attempts,
        ),
      );
      expect(states.flat().map(({ status, httpStatus }) => `${status} ${httpStatus}`)).toEqual(
        expect.arrayContaining(['failed 302', 'failed 401', 'failed null']),
      );
      await home.close();
    },
  );

  test(
    'passes a stream on piece by piece, and records the stream itself',
    { tags: ['calls§4.1'] },
    async () => {
      const events = chatEvents(['One', ' two', ' three']);
      let release: () => void = () => undefined;
      const url = await open(async (_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        outgoing.write(events[0]);
        await new Promise<void>((resolve) => (release = resolve));
        for (const event of events.slice(1)) outgoing.write(event);
        outgoing.end();
      });
      const response = await post(`${url}/openai/chat/completions`, chat('Count', { stream: true }));
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const first = await reader.read();
      // The client has the first event while the upstream has not sent the second.
      expect(Buffer.from(first.value as Uint8Array).toString()).toBe(events[0]);
      release();
      let rest = '';
      for (let next = await reader.read(); !next.done; next = await reader.read())
        rest += Buffer.from(next.value).toString();
      expect(rest).toBe(events.slice(1).join(''));
      const home = await recorded();
      const branch = await onlyBranch(home);
      const [attempt] = (await home.calls.list(branch)).attempts;
      expect(attempt).toMatchObject({ status: 'answered', finishReason: 'stop' });
      expect(
        Buffer.from(
          await home.calls.body(branch.history, attempt?.attemptId as string, 'response'),
        ).toString(),
      ).toBe(events.join(''));
      await home.close();
    },
  );

  test('a client that goes takes the request to the upstream with it', { tags: ['calls§4.3'] }, async () => {
    let gone: Promise<unknown> | undefined;
    const url = await open((_, outgoing) => {
      gone = once(outgoing, 'close');
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write(chatEvents(['One'])[0]);
    });
    const client = new AbortController();
    const response = await fetch(`${url}/openai/chat/completions`, {
      method: 'POST',
      body: chat('Count'),
      signal: client.signal,
    });
    await (response.body as ReadableStream<Uint8Array>).getReader().read();
    client.abort();
    await gone;
    const home = await recorded();
    const branch = await onlyBranch(home);
    const [attempt] = (await home.calls.list(branch)).attempts;
    expect(attempt).toMatchObject({ status: 'cancelled', httpStatus: 200 });
    expect((await home.calls.find(branch.history, attempt?.attemptId as string)).answer).toMatchObject({
      content: 'One',
    });
    await home.close();
  });

  test(
    'an upstream that is away, resets, sends half an event, an error or garbage is passed on and recorded as it was',
    { tags: ['calls§4.3'] },
    async () => {
      const half = chatEvents(['One', ' two']).join('').slice(0, -60);
      const url = await open(({ body }, outgoing) => {
        const [, what] = /"content":"(\w+)"/.exec(body.toString()) ?? [];
        if (what === 'reset') outgoing.socket?.resetAndDestroy();
        else if (what === 'middle') {
          outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
          outgoing.write(half, () => outgoing.socket?.resetAndDestroy());
        } else if (what === 'half')
          outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).end(half);
        else if (what === 'busy')
          outgoing
            .writeHead(429, { 'retry-after': '7', 'content-type': 'application/json' })
            .end('{"error":{"message":"slow down","type":"rate_limit","code":"rate_limit_exceeded"}}');
        else if (what === 'broken') outgoing.writeHead(500).end('<html>oops</html>');
        else
          outgoing
            .writeHead(200, { 'content-type': 'application/json' })
            .end(Buffer.from([0xff, 0xfe, 0, 1, 2]));
      });
      const answers: Record<string, string> = {};
      for (const what of ['reset', 'middle', 'half', 'busy', 'broken', 'garbage'])
        answers[what] = await post(`${url}/history/${what}/openai/chat/completions`, chat(what)).then(
          async (response) =>
            `${response.status} ${response.headers.get('retry-after') ?? ''} ${(await response.text().catch(() => 'cut')).length}`,
          () => 'failed',
        );
      expect(answers).toEqual({
        reset: expect.stringMatching(/^502 {2}/),
        middle: '200  3',
        half: `200  ${half.length}`,
        busy: '429 7 82',
        broken: '500  17',
        garbage: expect.stringMatching(/^200 {2}/),
      });
      const home = await recorded();
      const status = async (what: string): Promise<unknown> => {
        const [attempt] = (await home.calls.list(await home.find(what))).attempts;
        return [attempt?.status, attempt?.httpStatus, attempt?.error?.code ?? null];
      };
      expect(await status('reset')).toEqual(['failed', null, 'ECONNRESET']);
      expect(await status('middle')).toEqual(['failed', 200, 'ECONNRESET']);
      expect(await status('half')).toEqual(['failed', 200, 'E_INPUT_TRUNCATED']);
      expect(await status('busy')).toEqual(['failed', 429, 'rate_limit_exceeded']);
      expect(await status('broken')).toEqual(['failed', 500, null]);
      expect(await status('garbage')).toEqual(['failed', 200, 'E_INPUT_ENCODING']);
      await home.close();
    },
  );

  test(
    'an upstream that nobody listens at is a 502, and of other paths those are recorded that do something',
    { tags: ['calls§4.3', 'calls§10.1'] },
    async () => {
      const url = await open(({ url: path }, outgoing) => outgoing.end(path), 'http://127.0.0.1:9/v1');
      const response = await post(`${url}/openai/chat/completions`, chat('Hello'));
      expect(response.status).toBe(502);
      expect(await response.json()).toMatchObject({
        error: { type: 'upstream_error', code: 'ECONNREFUSED' },
      });
      // Some clients append the version, others leave it to the address.
      expect(await (await fetch(`${url}/anthropic/v1/models?limit=3`)).text()).toBe('/v1/models?limit=3');
      expect(await (await post(`${url}/anthropic/messages/count_tokens`, '{}')).text()).toBe(
        '/v1/messages/count_tokens',
      );
      expect(await (await fetch(`${url}/anthropic/api/hello`)).text()).toBe('/api/hello');
      for (const wrong of ['/nobody/x', '/history/a%2Fb/openai/x', '/run/'])
        expect((await post(url + wrong, '{}')).status).toBe(400);
      const foreign = await fetch(`${url}/openai/models`, { headers: { origin: 'http://evil.example' } });
      expect(foreign.status).toBe(403);
      const home = await recorded();
      const other = await home.find('provider-calls');
      expect((await home.calls.listAll(other)).calls).toMatchObject([
        { method: 'POST', path: '/v1/messages/count_tokens', status: 'answered', run: null },
      ]);
      const [chats] = (await home.read.histories()).filter(({ history }) => history !== other.history);
      const { attempts } = await home.calls.list(branchRefOf(chats?.history as string, 0));
      expect(attempts).toMatchObject([
        { status: 'failed', httpStatus: null, error: { code: 'ECONNREFUSED' } },
      ]);
      await home.close();
    },
  );

  test(
    'a body of many megabytes goes through both ways; its hash and size are recorded, and that its bytes are not',
    { tags: ['long', 'calls§2.3'] },
    async () => {
      const size = sized(48, 100) * 1024 * 1024;
      const block = randomBytes(1024 * 1024);
      const url = await open(async (_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'application/json' });
        for (let sent = 0; sent < size; sent += block.length)
          if (!outgoing.write(block)) await once(outgoing, 'drain');
        outgoing.end();
      });
      const big = new Uint8Array(size).fill(32);
      const response = await post(`${url}/history/big/openai/chat/completions`, big);
      const hash = createHash('sha256');
      let length = 0;
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
        length += piece.length;
        hash.update(piece);
      }
      expect(length).toBe(size);
      expect(upstream?.received[0]?.body.length).toBe(size);
      // The next one of the history has none to copy from.
      const small = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello.' }] });
      await (await post(`${url}/history/big/openai/chat/completions`, small)).body?.cancel();
      const home = await recorded();
      const branch = await home.find('big');
      const { attempts } = await home.calls.list(branch);
      const sha256 = createHash('sha256').update(big).digest('hex');
      expect(attempts).toMatchObject([
        { status: 'answered', request: { sha256, size }, response: { sha256: hash.digest('hex'), size } },
        { request: { size: small.length } },
      ]);
      const { attemptId = '' } = attempts[0] ?? {};
      for (const which of ['request', 'came', 'response'] as const)
        await expect(home.calls.body(branch.history, attemptId, which)).rejects.toMatchObject({
          code: 'E_CALL_BODY_NOT_KEPT',
          message: expect.stringContaining(`${size} bytes`) as string,
        });
      expect(await home.operations.verify({ rows: 'all' })).toMatchObject({ ok: true, problems: [] });
      const [, next] = (await home.calls.list(branch)).attempts;
      const bytes = await home.calls.body(branch.history, next?.attemptId ?? '', 'request');
      expect(Buffer.from(bytes).toString()).toBe(small);
      await home.close();
    },
  );

  test(
    `${STREAMS} streams at a time are passed on and recorded, each in its own conversation`,
    { tags: ['calls§4.4'] },
    async () => {
      const waiting: (() => void)[] = [];
      const url = await open(async ({ body }, outgoing) => {
        const [, number] = /"content":"(\d+)"/.exec(body.toString()) ?? [];
        const events = chatEvents([`Number ${number}`, ' it', ' is']);
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        outgoing.write(events[0]);
        // None ends before all have begun.
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === STREAMS) for (const go of waiting) go();
        });
        for (const event of events.slice(1)) {
          outgoing.write(event);
          await turn();
        }
        outgoing.end();
      });
      const answers = await Promise.all(
        Array.from({ length: STREAMS }, async (_, i) =>
          (await post(`${url}/run/r/openai/chat/completions`, chat(String(i), { stream: true }))).text(),
        ),
      );
      answers.forEach((answer, i) => expect(answer).toBe(chatEvents([`Number ${i}`, ' it', ' is']).join('')));
      const home = await recorded();
      const histories = await home.read.histories();
      expect(histories).toHaveLength(STREAMS);
      for (const { history } of histories) {
        const [attempt] = (await home.calls.list(branchRefOf(history, 0))).attempts;
        expect(attempt).toMatchObject({ status: 'answered' });
        const found = await home.calls.find(history, attempt?.attemptId as string);
        const asked = Buffer.from(await home.calls.body(history, found.attemptId, 'request')).toString();
        const [, number] = /"content":"(\d+)"/.exec(asked) ?? [];
        expect(found.answer).toMatchObject({ content: `Number ${number} it is` });
      }
      await home.close();
    },
  );

  test(
    'a gateway that is killed in the middle of a stream loses no finished call, and the open one has failed',
    { tags: ['long', 'calls§4.5'] },
    async () => {
      upstream = await startUpstream(({ body }, outgoing) => {
        if (!body.includes('"stream":true')) {
          outgoing.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer('Done'));
          return;
        }
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        outgoing.write(chatEvents(['One'])[0]);
      });
      const child = spawn(process.execPath, [programFile('gateway')], {
        env: {
          ...process.env,
          STEMMA_HOME: directory,
          STEMMA_PORT: '0',
          STEMMA_UPSTREAM_OPENAI: `${upstream.url}/v1`,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let said = '';
      for await (const piece of child.stdout) {
        said += String(piece);
        if (said.includes('\n')) break;
      }
      const url = `${/http:\S+/.exec(said)?.[0] ?? ''}/proxy/run/r`;
      const finished: string[] = [];
      for (let i = 0; i < sized(10, 40); i++) {
        const response = await post(`${url}/openai/chat/completions`, chat(`Question ${i}`));
        await response.text();
        finished.push(`Question ${i}`);
      }
      const open = await post(`${url}/openai/chat/completions`, chat('Open', { stream: true }));
      await (open.body as ReadableStream<Uint8Array>).getReader().read();
      child.kill('SIGKILL');
      await once(child, 'exit');
      // The next gateway of the home records what was left.
      gateway = await serveHome({
        home: { directory },
        port: 0,
        warn: (sentence) => warnings.push(sentence),
      });
      expect(await gateway.drained(60_000)).toBe(0);
      const home = await recorded();
      const seen: Record<string, string> = {};
      for (const { history } of await home.read.histories())
        for (const { attemptId, status } of (await home.calls.list(branchRefOf(history, 0))).attempts) {
          const body = Buffer.from(await home.calls.body(history, attemptId, 'request')).toString();
          seen[/"content":"([^"]+)"/.exec(body)?.[1] ?? ''] = status;
        }
      expect(seen).toEqual({
        ...Object.fromEntries(finished.map((each) => [each, 'answered'])),
        Open: 'failed',
      });
      expect(warnings).toEqual([]);
      expect(readdirSync(join(directory, 'calls'))).toEqual([]);
      await home.close();
    },
  );
});
