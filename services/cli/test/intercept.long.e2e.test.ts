import { filesHolding, programFile } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

/** A request as the provider got it: names and values of headers in their order, without those about a connection. */
type Received = {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
};

let directory: string;
let temporary: string;
let provider: Server;
let address: string;
let received: Received[] = [];
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-both-ways-'));
  temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  provider = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.on('end', () => {
      const { method = '', url = '', rawHeaders } = incoming;
      const headers = rawHeaders.flatMap((name, i) =>
        i % 2 === 1 || /^(connection|keep-alive)$/i.test(name)
          ? []
          : [[name, rawHeaders[i + 1] ?? ''] as const],
      );
      received.push({ method, url, headers, body: Buffer.concat(pieces).toString() });
      const message = { role: 'assistant', content: 'Yes.' };
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ model: 'm', choices: [{ message, finish_reason: 'stop' }] }));
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  writeFileSync(join(directory, 'agent.mjs'), AGENT);
  writeFileSync(join(directory, 'agent.py'), PYTHON_AGENT);
});
beforeEach(() => void (received = []));
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
  rmSync(directory, { recursive: true, force: true });
});

/** An agent with three ways to call, at an address that it is given as an argument. */
const AGENT = `
import http from 'node:http';
import https from 'node:https';
const url = process.argv[2] + '/chat/completions?trace=%41';
const body = (content) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], x: 'ä' });
await (await fetch(url, { method: 'POST', headers: { 'X-Order': '1', authorization: 'Bearer sk-both-ways' }, body: body('fetch') })).text();
const { request } = url.startsWith('https:') ? https : http;
for (const headers of [{ 'X-B': '2', 'x-a': '1' }, { 'Transfer-Encoding': 'chunked' }])
  await new Promise((resolve, reject) => {
    const made = request(url, { method: 'POST', headers }, (answer) => answer.resume().on('end', resolve));
    made.on('error', reject);
    made.write(body('in pieces').slice(0, 10));
    made.end(body('in pieces').slice(10));
  });
`;

const PYTHON_AGENT = `
import json, sys, urllib.request
body = json.dumps({'model': 'm', 'messages': [{'role': 'user', 'content': 'python'}]}).encode()
made = urllib.request.Request(sys.argv[1] + '/chat/completions', data=body, headers={'X-One': '1'})
urllib.request.urlopen(made).read()
`;

/** The exit code of a program that is not there. */
const ABSENT = 127;

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

const run = (command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const [program = '', ...args] = command;
    const { HTTP_PROXY: _http, HTTPS_PROXY: _https, NO_PROXY: _no, ...own } = process.env;
    execFile(
      program,
      args,
      { env: { ...own, TMPDIR: temporary, STEMMA_HOME: join(directory, 'home'), ...env } },
      (error, stdout, stderr) => {
        const code = error?.code === 'ENOENT' ? ABSENT : Number(error?.code ?? 0);
        resolve({ code, stdout, stderr });
      },
    );
  });

const record = (
  options: readonly string[],
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Ran> =>
  run([process.execPath, programFile('stemma'), 'record', '--json', ...options, '--', ...command], env);

/** What a client itself says otherwise to another host, and over TLS, where `fetch` takes Brotli, too. */
const ofItsHost = (requests: readonly Received[]): readonly Received[] =>
  requests.map((each) => ({
    ...each,
    headers: each.headers.map(
      ([name, value]) => [name, /^host$/i.test(name) ? '' : value.replace(/^br, /, '')] as const,
    ),
  }));

describe('what reaches the provider is the same with Stemma and without', () => {
  const clients: readonly (readonly [
    name: string,
    command: (url: string) => readonly string[],
    calls: number,
  ])[] = [
    ['Node.js', (url) => [process.execPath, join(directory, 'agent.mjs'), url], 3],
    ['Python', (url) => ['python3', join(directory, 'agent.py'), url], 1],
    [
      'curl',
      (url) => [
        'curl',
        '-sS',
        '-o',
        '/dev/null',
        '--http1.1',
        `${url}/chat/completions`,
        '-H',
        'X-One: 1',
        '-d',
        '{"model":"m","messages":[]}',
      ],
      1,
    ],
  ];
  test.for(clients)('%s', async ([name, command, calls], { skip }) => {
    const without = await run(command(`${address}/v1`));
    if (without.code === ABSENT) skip(`there is no ${name} on this machine`);
    expect(without).toMatchObject({ code: 0 });
    const sent = received;
    expect(sent).toHaveLength(calls);

    received = [];
    const plain = await record(['--intercept'], command(`${address}/v1`), {
      MODELS_BASE_URL: `${address}/v1`,
    });
    expect(plain).toMatchObject({ code: 0 });
    expect(JSON.parse(plain.stdout)).toMatchObject({ calls, unrecorded: [], tunnelled: [] });
    expect(received).toEqual(sent);

    received = [];
    const upstream = { STEMMA_UPSTREAM_OPENAI: `${address}/v1` };
    const secure = await record(['--intercept'], command('https://api.openai.com/v1'), upstream);
    expect(secure).toMatchObject({ code: 0 });
    expect(JSON.parse(secure.stdout)).toMatchObject({ calls, unrecorded: [], tunnelled: [] });
    expect(ofItsHost(received)).toEqual(ofItsHost(sent));
  });
});

test('a host that nobody names passes unread, and --upstream moves one that is named', async () => {
  const command = [process.execPath, join(directory, 'agent.mjs'), `${address}/v1`];
  const unread = await record(['--intercept'], command, {});
  expect(JSON.parse(unread.stdout)).toMatchObject({ calls: 0, tunnelled: [{ host: '127.0.0.1' }] });
  expect(unread.stderr).toContain('none went to a host that is read');
  expect(unread.stderr).toContain('passed unread: 127.0.0.1 ×');
  const moved = [process.execPath, join(directory, 'agent.mjs'), 'https://models.example/v1'];
  const named = await record(['--intercept', '--upstream', `models.example=${address}`], moved, {});
  expect(JSON.parse(named.stdout)).toMatchObject({ exitCode: 0, calls: 3, tunnelled: [] });
});

test('a run leaves no key, and nothing in the folder for what is temporary', async () => {
  const env = { STEMMA_UPSTREAM_OPENAI: `${address}/v1`, SEEN: join(directory, 'seen') };
  const look = `const fs = require('fs'); const folder = require('path').dirname(process.env.SSL_CERT_FILE);
    fs.writeFileSync(process.env.SEEN, fs.readdirSync(folder).map((name) => fs.readFileSync(folder + '/' + name)).join(''));`;
  const ran = await record(['--intercept'], [process.execPath, '-e', look], env);
  expect(ran.code).toBe(0);
  expect(filesHolding(directory, ['BEGIN CERTIFICATE'])).toEqual(['seen: BEGIN CERTIFICATE']);
  expect(filesHolding(directory, ['PRIVATE KEY', 'sk-both-ways'])).toEqual(['agent.mjs: sk-both-ways']);
  expect(readdirSync(temporary)).toEqual([]);
});
