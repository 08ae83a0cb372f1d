import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { request } from 'node:http';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../src/run-cli.ts';
import { keepHomeOpen, openKept, stemmaJson, temporaryFolder } from '../run-stemma.ts';
import { openClient, textClient } from './mcp-client.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const home = join(folder.path, 'home');
keepHomeOpen(home);
const sample = join(import.meta.dirname, '../../../../samples/slow-checkout.steps.jsonl');

const stop = new AbortController();
let ended: Promise<number>;
let url: URL;
beforeAll(async () => {
  await stemmaJson(['import', sample, '--history', 'slow', '--home', home]);
  url = await new Promise<URL>((resolve) => {
    const stdout = new Writable({
      write: (piece: Buffer, _encoding, done) => {
        const [found] = /http:\S+/.exec(piece.toString()) ?? [];
        if (found !== undefined) resolve(new URL(found));
        done();
      },
    });
    ended = runCli(['mcp', '--http', '0', '--home', home], {
      ...{ stdout, stdin: Readable.from([]), stderr: new PassThrough(), env: {} },
      ...{ signal: stop.signal, openHome: openKept },
    });
  });
}, 60_000);
afterAll(async () => {
  stop.abort('SIGTERM');
  expect(await ended).toBe(0);
});

const connect = async (name: string) => {
  const client = new Client({ name, version: '1.0' });
  await client.connect(new StreamableHTTPClientTransport(url));
  return textClient(client);
};

/** The status of a request with these headers. */
const statusOf = (headers: Readonly<Record<string, string>>, path = '/mcp'): Promise<number> =>
  new Promise((resolve, reject) => {
    const accept = 'application/json, text/event-stream';
    const asked = request(
      {
        ...{ host: url.hostname, port: url.port, path, method: 'POST' },
        headers: { 'content-type': 'application/json', accept, ...headers },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    asked.on('error', reject);
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    };
    asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
  });

test('clients over HTTP are answered as one at stdin is, several at a time', async () => {
  await using here = await openClient(home);
  const clients = await Promise.all(['one', 'two', 'three'].map(connect));
  const { text } = await here.call('why', { history: 'slow', refs: ['call-04'] });
  for (const opened of clients) {
    expect(await opened.call('why', { history: 'slow', refs: ['call-04'] })).toEqual({ text, failed: false });
    await opened.client.close();
  }
});

test('a page of another site, and a name that leads here, are refused', async () => {
  const own = `127.0.0.1:${url.port}`;
  expect(await statusOf({})).toBe(200);
  expect(await statusOf({ origin: `http://${own}` })).toBe(200);
  expect(await statusOf({ origin: 'http://attacker.example' })).toBe(403);
  expect(await statusOf({ host: 'attacker.example', origin: 'http://attacker.example' })).toBe(403);
  expect(await statusOf({ host: `attacker.example:${url.port}` })).toBe(403);
  expect(await statusOf({ 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await statusOf({ 'mcp-session-id': 'gone' })).toBe(404);
  expect(await statusOf({}, '/other')).toBe(404);
});

test('histories and calls are resources', async () => {
  await using opened = await connect('reader');
  const { resources } = await opened.client.listResources();
  expect(resources).toMatchObject([{ name: 'slow', description: '18 calls', mimeType: 'text/plain' }]);
  const { resourceTemplates } = await opened.client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'stemma://histories/{history}',
    'stemma://histories/{history}/calls/{call}',
    'stemma://histories/{history}/calls/{call}/thread',
  ]);
  const read = async (uri: string): Promise<string> => {
    const { contents } = await opened.client.readResource({ uri });
    return contents.map((each) => ('text' in each ? each.text : '')).join('');
  };
  const { text } = await opened.call('call', { history: 'slow', call: '@c7', budget: 20_000 });
  expect(await read('stemma://histories/slow/calls/7')).toBe(text);
  expect(await read(resources[0]?.uri ?? '')).toContain('@c18');
  expect(await read('stemma://histories/slow/calls/@c7/thread')).toContain('You help the engineer on call');
  await expect(read('stemma://histories/none/calls/7')).rejects.toMatchObject({ code: -32_002 });
});

test('a prompt asks why a run failed, with what is known of it as data', async () => {
  await using opened = await connect('asker');
  const { prompts } = await opened.client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(['why_did_this_run_fail', 'why_do_these_runs_differ']);
  const { messages } = await opened.client.getPrompt({
    name: 'why_did_this_run_fail',
    arguments: { history: 'slow' },
  });
  const [{ content } = { content: undefined }] = messages;
  expect(content).toMatchObject({ type: 'text', text: expect.stringContaining('deploys_list') });
  expect(content).toMatchObject({ text: expect.stringMatching(/\[data ([0-9a-f]{12})[^]*\[end of data \1/) });
});
