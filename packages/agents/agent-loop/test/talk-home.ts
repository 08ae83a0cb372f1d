import { branchRefOf } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const history = 'htalk';
export const main = branchRefOf(history, 0);
const by = { recorder: 'agent' };

const look = (id: string, place: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: `{"place": "${place}"}` } }],
});
export const tools = [
  { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } },
];

/** What an agent said in three calls; the answer of the last one is not shown to a model yet. */
export const MESSAGES = [
  { role: 'system', content: 'You look after a harbour.' },
  { role: 'user', content: 'Is there a ship at the north pier? And at the south pier?' },
  look('call_1', 'north'),
  { role: 'tool', tool_call_id: 'call_1', content: 'no ship' },
  look('call_2', 'south'),
  { role: 'tool', tool_call_id: 'call_2', content: 'one ship' },
  { role: 'assistant', content: 'Only at the south pier.' },
] as const;

const ENDS = [2, 4, 6];

export const requestOf = (messages: readonly object[]): Uint8Array =>
  Buffer.from(JSON.stringify({ model: 'm-1', temperature: 1, messages, tools }));

/** A home in a directory, with the three recorded calls of an agent. */
export const openTalk = async (directory: string): Promise<Home> => {
  const home = await openHome({ directory, create: true });
  await home.submit({ id: 'start', history, branchId: 0, by, steps: [{ op: 'start', name: 'talk' }] });
  for (const [i, end] of ENDS.entries()) {
    const messages = MESSAGES.slice(0, end);
    const id = `call-${i + 1}`;
    const request = requestOf(messages);
    const facts = {
      api: 'openai.chat',
      model: 'm-1',
      parameters: { temperature: 1 },
      tools,
      request,
    } as const;
    await home.calls.recordCall(main, { id, by, messages, facts });
    await home.calls.finishCall(main, {
      by,
      attemptId: id,
      status: 'answered',
      httpStatus: 200,
      finishReason: end === 6 ? 'stop' : 'tool_calls',
      model: 'm-1',
      usage: { input: 10 * end, output: 5, cached: null, cacheWrite: null, reasoning: null },
      firstByteMs: 1,
      durationMs: 2,
      error: null,
      answer: MESSAGES[end] as never,
      response: null,
    });
  }
  return home;
};

/** A folder that is removed at the end of its block. */
export const temporaryFolder = (): { readonly directory: string } & Disposable => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-loop-'));
  return {
    directory,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
};
