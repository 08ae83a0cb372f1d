import { branchRefOf } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { readRequest, type ModelApi } from '@stemma/model-apis';
import { sendAnswer, startModels } from '@stemma/test-kit';
import { afterEach, expect, test } from 'vitest';
import { continueBranch, retryCall } from '../src/index.ts';
import { history, main, temporaryFolder } from './talk-home.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const asked = { role: 'user', content: 'Is pier 3 dry?' };
const chatCall = (id: string, name: string) => ({
  id,
  type: 'function',
  function: { name, arguments: '{"pier":3}' },
});
const REQUESTS: readonly (readonly [string, ModelApi, (dry: string, sun: string) => object])[] = [
  [
    'openai',
    'openai.chat',
    (dry, sun) => ({
      model: 'm-1',
      messages: [
        { role: 'system', content: 'You run a harbour.' },
        asked,
        {
          role: 'assistant',
          content: 'I look it up.',
          tool_calls: [chatCall('a', 'look_up'), chatCall('b', 'weather')],
        },
        { role: 'tool', tool_call_id: 'a', content: dry },
        { role: 'tool', tool_call_id: 'b', content: sun },
      ],
    }),
  ],
  [
    'openai.responses',
    'openai.responses',
    (dry, sun) => ({
      model: 'm-1',
      input: [
        asked,
        { type: 'function_call', call_id: 'a', name: 'look_up', arguments: '{"pier":3}' },
        { type: 'function_call', call_id: 'b', name: 'weather', arguments: '{"pier":3}' },
        { type: 'function_call_output', call_id: 'a', output: dry },
        { type: 'function_call_output', call_id: 'b', output: sun },
      ],
    }),
  ],
  [
    'anthropic',
    'anthropic.messages',
    (dry, sun) => ({
      model: 'm-1',
      max_tokens: 500,
      system: 'You run a harbour.',
      messages: [
        asked,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'The pump is on pier 3.', signature: 'c2ln' },
            { type: 'text', text: 'I look it up.' },
            { type: 'tool_use', id: 'a', name: 'look_up', input: { pier: 3 } },
            { type: 'tool_use', id: 'b', name: 'weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: dry },
            { type: 'tool_result', tool_use_id: 'b', content: sun },
          ],
        },
      ],
    }),
  ],
];

/** A home with two recorded calls, the second with the results of two tools that were called at once. */
const setUp = async (api: ModelApi, body: object) => {
  const folder = temporaryFolder();
  const models = await startModels((call, _n, outgoing) => sendAnswer(call, outgoing, { text: 'Yes.' }));
  const home = await openHome({ directory: folder.directory, create: true });
  closing.push(
    async () => folder[Symbol.dispose](),
    () => models.close(),
    () => home.close(),
  );
  const by = { recorder: 'agent' };
  await home.submit({ id: 'start', history, branchId: 0, by, steps: [{ op: 'start', name: 'talk' }] });
  const request = Buffer.from(JSON.stringify(body));
  const read = readRequest(api, request);
  if (!read.ok) throw new Error('it is not read');
  const { messages, parameters, tools } = read;
  const first = messages.findIndex((message) => (message as { role: string }).role === 'assistant');
  const facts = { api, model: 'm-1', parameters, tools };
  await home.calls.recordCall(main, {
    ...{ id: 'call-1', by, messages: messages.slice(0, first) },
    facts: { ...facts, request: null },
  });
  await home.calls.recordCall(main, { id: 'call-2', by, messages, facts: { ...facts, request } });
  return { home, models };
};

/** The block whose content is a text. */
const blockOf = async (home: Home, text: string): Promise<string> => {
  const { ids } = await home.read.select(main, `.cb[content='${text}']`);
  return ids[0] as string;
};

test.each(REQUESTS)(
  'a call is asked again with another result of either of two parallel tools, by %s: all else is as it was',
  { tags: ['calls§6.6'] },
  async (mind, api, bodyWith) => {
    const { home, models } = await setUp(api, bodyWith('dry', 'sun'));
    const again = async (run: string, edits: Readonly<Record<string, string>>): Promise<unknown> => {
      const steps = [];
      for (const [text, content] of Object.entries(edits))
        steps.push({ op: 'replace', id: await blockOf(home, text), set: { content } });
      await retryCall(home, main, await home.position(main, '@c2'), {
        ...{ run, actor: 'ann', minds: [`${mind}:m-1@${models.url}`], edit: { steps } },
        surroundings: { env: {}, sleep: async () => undefined },
      });
      return JSON.parse(models.calls.at(-1)?.body.toString() ?? '');
    };
    expect(await again('r1', { dry: 'under water' })).toEqual(bodyWith('under water', 'sun'));
    expect(await again('r2', { sun: 'rain' })).toEqual(bodyWith('dry', 'rain'));
    expect(await again('r3', { sun: 'rain', dry: 'wet' })).toEqual(bodyWith('wet', 'rain'));
    // By hand: a fork, the edit in it, and on.
    const at = await home.position(main, '@c2');
    const by = { actor: 'ann' };
    const forked = await home.submit({
      ...{ id: 'fork', history, branchId: 0, by },
      steps: [{ op: 'fork', name: 'other', at: { branchId: at.branchId, seq: at.seq } }],
    });
    const fork = branchRefOf(history, forked.branchId);
    const edits = new Map([[await blockOf(home, 'dry'), 'under water']]);
    const steps = await home.steering.editSteps(fork, edits);
    await home.submit({ id: 'edit', history, branchId: fork.branchId, by, steps: [...steps] });
    await continueBranch(home, fork, {
      ...{ run: 'go', actor: 'ann', mind: `${mind}:m-1@${models.url}` },
      minds: { env: {}, sleep: async () => undefined },
    });
    expect(JSON.parse(models.calls.at(-1)?.body.toString() ?? '')).toEqual(bodyWith('under water', 'sun'));
  },
);
