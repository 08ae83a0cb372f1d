import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRerunBench, type Report } from './rerun-agent.ts';

const TASK = 'Count every ship at the second pier.';

/** An agent that starts a helper and goes on beside it: the helper begins before the agent's last call, and ends after it. */
const AGENT = `
const conversation = (system, question) => {
  const messages = [{ role: 'system', content: system }, { role: 'user', content: question }];
  return {
    say: (message) => messages.push(message),
    ask: async () => {
      const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'm', messages }),
      });
      if (response.status !== 200) process.exit(1);
      const { message } = (await response.json()).choices[0];
      messages.push(message);
      return message;
    },
  };
};
const main = conversation('You run a harbour.', 'How many ships are there?');
const [call] = (await main.ask()).tool_calls;
const helper = conversation('You count.', JSON.parse(call.function.arguments).task);
await helper.ask();
main.say({ role: 'tool', tool_call_id: call.id, content: 'It has begun.' });
await main.ask();
helper.say({ role: 'user', content: 'Count once more.' });
await helper.ask();
main.say({ role: 'user', content: 'And how many are there now?' });
await main.ask();
helper.say({ role: 'user', content: 'And the last time.' });
console.log((await helper.ask()).content);
`;

type Asked = { readonly messages: readonly { readonly role: string; readonly content: string }[] };

let bench: Awaited<ReturnType<typeof openRerunBench>>;
let provider: Server;
let env: NodeJS.ProcessEnv;
let command: readonly string[];
let history: string;
let asked: Asked['messages'][] = [];
beforeAll(async () => {
  bench = await openRerunBench();
  provider = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const { messages } = JSON.parse(Buffer.concat(pieces).toString()) as Asked;
        asked.push(messages);
        const isFirst = messages[0]?.content === 'You run a harbour.' && messages.length === 2;
        const call = { name: 'delegate', arguments: JSON.stringify({ task: TASK }) };
        const message = isFirst
          ? {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'call_1', type: 'function', function: call }],
            }
          : { role: 'assistant', content: `There are ${messages.length} ships.` };
        outgoing.writeHead(200, { 'content-type': 'application/json' });
        outgoing.end(JSON.stringify({ model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }));
      });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  env = { STEMMA_UPSTREAM_OPENAI: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1` };
  command = [process.execPath, bench.file('beside.mjs', AGENT)];
  const recorded = await bench.run('harbour', ['record', '--', ...command], env);
  expect([recorded.code, asked.length]).toEqual([0, 6]);
  history = await bench.inHome('harbour', async ({ read }) => {
    const { histories } = await read.listHistories({});
    return histories.find(({ name }) => name?.startsWith('How-many') === true)?.history ?? '';
  });
});
afterAll(async () => {
  provider.closeAllConnections();
  provider.close();
  await bench.close();
});

const rerunFrom = async (label: string, name: string): Promise<Report['calls']> => {
  asked = [];
  const options = ['--from', label, '--name', name, '--json'];
  const { code, stdout } = await bench.run('harbour', ['rerun', history, ...options, '--', ...command], env);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as Report).calls;
};

test('a helper that began before the call from which a rerun is live is served to its end', async () => {
  const calls = await rerunFrom('@c3', 'later');
  expect(calls.map(({ how }) => how)).toEqual(['same', 'same', 'same', 'same', 'same']);
  expect(asked.map((messages) => messages.at(-1)?.content)).toEqual(['And how many are there now?']);
  expect((await bench.run('harbour', ['verify'])).code).toBe(0);
});

test('a helper that a live call leads to is live', async () => {
  expect(await rerunFrom('@c1', 'anew')).toEqual([]);
  expect(asked.length).toBe(6);
});
