import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIN, spawnStemma, stemmaJson, temporaryFolder } from '../run-stemma.ts';
import { textClient } from './mcp-client.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const home = join(folder.path, 'home');
const sample = join(import.meta.dirname, '../../../../samples/slow-checkout.steps.jsonl');

beforeAll(async () => {
  await stemmaJson(['import', sample, '--history', 'slow', '--home', home]);
}, 60_000);

test('a client starts the program and asks it over stdin and stdout', async () => {
  const client = new Client({ name: 'tester', version: '1.0' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', '--home', home],
      stderr: 'inherit',
    }),
  );
  await using opened = textClient(client);
  expect(client.getServerVersion()).toMatchObject({ name: 'stemma' });
  const [film, why, none] = await Promise.all([
    opened.call('filmstrip', { history: 'slow' }),
    opened.call('why', { history: 'slow', refs: ['call-04'] }),
    opened.call('call', { history: 'slow', call: '@c99' }),
  ]);
  expect([film.failed, why.failed, none.failed]).toEqual([false, false, true]);
  expect(why.text).toContain('pruned by max_blocks');
});

test('what was asked before the input ends is answered', async () => {
  const lines = [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'filmstrip', arguments: { history: 'slow' } } },
  ];
  const input = lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join('');
  const { code, stdout, stderr } = await spawnStemma(['mcp', '--home', home], { input });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const messages = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly id: number; readonly result?: unknown });
  expect(messages.map(({ id, result }) => [id, result !== undefined])).toEqual([
    [1, true],
    [2, true],
  ]);
});

test('a permission that there is not is refused', async () => {
  await expect(spawnStemma(['mcp', '--allow', 'everything', '--home', home])).resolves.toMatchObject({
    code: 64,
  });
});
