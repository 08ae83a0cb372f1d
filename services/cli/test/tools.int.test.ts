import { openAnswers } from '@stemma/answers';
import { QUESTIONS } from '@stemma/api';
import { exchangeOfRequest, recordExchange } from '@stemma/exchanges';
import { openHome, type Home } from '@stemma/home';
import { defined } from '@stemma/values';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStemma, temporaryFolder } from './run-stemma.ts';
import { someTranscripts } from './transcripts.ts';

const folder = temporaryFolder();
const directory = join(folder.path, 'home');
let home: Home;
beforeAll(async () => {
  // Histories are read in the order in which they began.
  let seconds = 1_790_000_000n;
  home = await openHome({ directory, create: true, clock: () => seconds++ * 1_000_000_000n });
});
afterAll(async () => {
  await home.close();
  folder[Symbol.dispose]();
});

const toolsOf = async (history: string | undefined, page: { from?: number; limit?: number } = {}) =>
  openAnswers(home).ask(QUESTIONS.tools, { ...defined({ history }), ...page });

type Call = { readonly id: string; readonly history: string; readonly path: string };

/** Records a call: what was sent, and what came back. */
const record = async ({ id, history, path }: Call, request: object, response: object): Promise<void> => {
  await recordExchange(
    home,
    exchangeOfRequest({
      id,
      history,
      request: {
        form: 'wire',
        method: 'POST',
        path,
        content_type: 'application/json',
        body: { text: JSON.stringify(request) },
      },
      end: {
        status: 'answered',
        first_byte_ms: null,
        duration_ms: null,
        error: null,
        response: {
          form: 'wire',
          http_status: 200,
          content_type: 'application/json',
          body: { text: JSON.stringify(response) },
        },
      },
    }),
  );
};

const schema = (properties: object): object => ({ type: 'object', properties });
const chatTool = (name: string, description: string, properties: object): object => ({
  type: 'function',
  function: { name, description, parameters: schema(properties) },
});

test('tools says where each was offered and called, what failed, how long it took, and what changed', async () => {
  const at = { history: 'chat', path: '/v1/chat/completions' };
  const calls = [
    { id: 'w1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } },
    { id: 'w2', type: 'function', function: { name: 'weather', arguments: '{"city":"Graz"}' } },
  ];
  const asks = { role: 'assistant', content: null, tool_calls: calls };
  const messages: object[] = [{ role: 'user', content: 'Is it wet?' }];
  const city = { city: { type: 'string' } };
  const answer = (message: object): object => ({
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message }],
  });
  await record(
    { id: 'a', ...at },
    { model: 'm', messages, tools: [chatTool('weather', 'Says the weather', city)] },
    answer(asks),
  );
  messages.push(
    asks,
    { role: 'tool', tool_call_id: 'w1', content: 'rain', duration_ms: 120 },
    { role: 'tool', tool_call_id: 'w2', content: 'no such city', is_error: true },
  );
  await record(
    { id: 'b', ...at },
    {
      model: 'm',
      messages,
      tools: [
        chatTool('weather', 'Says the weather now', { ...city, unit: { type: 'string' } }),
        chatTool('clock', 'Says the time', {}),
      ],
    },
    answer({ role: 'assistant', content: 'It rains in Ulm.' }),
  );
  const { total, tools } = await toolsOf('chat');
  expect([total, tools.map(({ name }) => name)]).toEqual([2, ['clock', 'weather']]);
  const [clock, weather] = tools;
  expect(clock).toMatchObject({ calls: 0, duration_ms: null, called: null, offered: { calls: 1 } });
  expect(weather).toMatchObject({ calls: 2, answered: 2, failed: 1, duration_ms: 120, timed: 1, changed: 2 });
  expect(weather?.offered?.calls).toBe(2);
  expect(weather?.changes.map(({ path, before, after }) => [path, before, after])).toEqual([
    ['description', 'Says the weather', 'Says the weather now'],
    ['parameters.properties.unit', null, '{"type":"string"}'],
  ]);
  expect(weather?.changes[0]?.at).toEqual(clock?.offered?.first);
});

test('a call that a model repeats with the same id and arguments is counted again', async () => {
  const history = 'same-id';
  const asks = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'think', arguments: '{"of":"it"}' } }],
  };
  const thought = { role: 'tool', tool_call_id: 'call_0', content: '' };
  const first: readonly object[] = [{ role: 'user', content: 'Think twice' }, asks, thought];
  const messages: readonly object[] = [...first, asks, thought, { role: 'assistant', content: 'Done.' }];
  const file = join(folder.path, 'same-id.json');
  writeFileSync(file, JSON.stringify(messages));
  expect((await runStemma(['import', file, '--history', history, '--home', directory])).code).toBe(0);
  expect((await toolsOf(history)).tools).toMatchObject([{ name: 'think', calls: 2, answered: 2 }]);

  const live = { history: 'same-id-live', path: '/v1/chat/completions' };
  for (const [i, shown] of [1, 3, 5].entries())
    await record(
      { id: `live-${i}`, ...live },
      { model: 'm', messages: messages.slice(0, shown) },
      { model: 'm', choices: [{ index: 0, finish_reason: 'stop', message: messages[shown] }] },
    );
  expect((await toolsOf(live.history)).tools).toMatchObject([{ name: 'think', calls: 2, answered: 2 }]);
});

test('a page of tools says where the next begins', async () => {
  const [first, second] = [await toolsOf('chat', { limit: 1 }), await toolsOf('chat', { from: 1, limit: 1 })];
  expect([first.next, first.tools.map(({ name }) => name)]).toEqual([1, ['clock']]);
  expect([second.next, second.tools.map(({ name }) => name)]).toEqual([null, ['weather']]);
});

test.each([
  [
    '/v1/responses',
    {
      model: 'm',
      input: 'hi',
      tools: [{ type: 'function', name: 'look', parameters: schema({}) }, { type: 'web_search' }],
    },
    ['look', 'web_search'],
  ],
  [
    '/v1/messages',
    {
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ name: 'look', description: 'Looks', input_schema: schema({}) }],
    },
    ['look'],
  ],
] as const)('tools of %s are read', async (path, request, names) => {
  const history = `of${path.replaceAll('/', '-')}`;
  await record({ id: history, history, path }, request, {});
  expect((await toolsOf(history)).tools.map(({ name }) => name)).toEqual(names);
});

test('declarations of Gemini are read by their names', async () => {
  await recordExchange(
    home,
    exchangeOfRequest({
      id: 'g',
      history: 'gemini',
      request: {
        form: 'said',
        model: 'gemini',
        messages: [{ role: 'user', content: 'hi' }],
        tools: [
          { functionDeclarations: [{ name: 'look', parameters: schema({}) }, { name: 'find' }] },
          { googleSearch: {} },
        ],
      },
      end: null,
    }),
  );
  expect((await toolsOf('gemini')).tools.map(({ name }) => name)).toEqual(['find', 'googleSearch', 'look']);
});

test('a name that hides characters is printed with escapes', async () => {
  const tools = [chatTool('sly\u202e\u001b[31m', 'x', {})];
  const messages = [{ role: 'user', content: 'hi' }];
  await record(
    { id: 's', history: 'sly', path: '/v1/chat/completions' },
    { model: 'm', messages, tools },
    {},
  );
  const { code, stdout } = await runStemma(['tools', 'sly', '--home', directory]);
  expect([code, stdout.includes('\u202e'), stdout.includes('\u001b')]).toEqual([0, false, false]);
  expect(stdout).toContain(String.raw`sly\u202e\u001b[31m`);
});

test('without a history, tools sums what main of each history shows, and changes between histories', async () => {
  const ask = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  const path = '/v1/chat/completions';
  for (const [id, text] of [
    ['seek-1', 'Seeks'],
    ['seek-2', 'Seeks here'],
    ['seek-3', 'Seeks here'],
  ] as const)
    await record({ id, history: id, path }, { ...ask, tools: [chatTool('seek', text, {})] }, {});
  const { history, branch, branchId, tools } = await toolsOf(undefined);
  expect([history, branch, branchId]).toEqual([null, null, null]);
  const histories = (await home.read.histories()).map((one) => one.history);
  const single = await Promise.all(histories.map(async (one) => (await toolsOf(one)).tools));
  const counted = new Map<string, number>();
  for (const { name, calls } of single.flat()) counted.set(name, (counted.get(name) ?? 0) + calls);
  expect(new Map(tools.map(({ name, calls }) => [name, calls]))).toEqual(
    new Map([...counted].sort(([a], [b]) => (a < b ? -1 : 1))),
  );
  const seek = tools.find(({ name }) => name === 'seek');
  expect(seek?.offered?.calls).toBe(3);
  expect(seek?.changes.map(({ at, path, before, after }) => [at.history, path, before, after])).toEqual([
    [(await home.find('seek-2')).history, 'description', 'Seeks', 'Seeks here'],
  ]);
  const { code, stdout } = await runStemma(['tools', '--home', directory]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^seek .* seek-1 @s\d+…seek-3 @s\d+ /m);
  expect(stdout).toMatch(/^seek-2 @s\d+ {2}seek: description: Seeks → Seeks here$/m);
});

test('tools counts each call of a recorded agent once', async ({ skip }) => {
  if (someTranscripts.length === 0) skip('the transcripts are not beside the checkout');
  for (const [i, { file, messages }] of someTranscripts.entries()) {
    const name = `real-${i}`;
    expect((await runStemma(['import', file, '--history', name, '--home', directory])).code).toBe(0);
    const calls = new Map<string, number>();
    for (const { tool_calls: made = [] } of messages as readonly {
      tool_calls?: { function: { name: string } }[] | null;
    }[])
      for (const { function: called } of made ?? [])
        calls.set(called.name, (calls.get(called.name) ?? 0) + 1);
    const { tools } = await toolsOf(name);
    expect(new Map(tools.map((tool) => [tool.name, tool.calls]))).toEqual(
      new Map([...calls].sort(([a], [b]) => (a < b ? -1 : 1))),
    );
  }
});
