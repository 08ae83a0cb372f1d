import { historyId } from '@stemma/history';
import { openHome, temporaryHome } from '@stemma/test-kit/home';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Files below a directory that hold a text. */
const filesWith = (directory: string, text: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));

/** Numbers of any size, and bytes, as texts. */
const plain = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint'
    ? String(value)
    : value instanceof Uint8Array
      ? Buffer.from(value).toString()
      : value;

const by = { recorder: 'proxy' };

test(
  'no field of a call, of its end, or of what is said of it keeps a secret',
  { tags: ['calls§2.4'] },
  async () => {
    using at = temporaryHome();
    const { directory } = at;
    const redact = { patterns: [{ name: 'hush', pattern: 'hush-[0-9a-z]+' }] };
    const home = await openHome({ directory, create: true, redact });
    const secret = (where: string): string => `hush-${where}`;
    const messages = [{ role: 'user', content: `say ${secret('message')}` }];
    const { branch } = await home.calls.recordRequest({
      ...{ id: 'call', by, messages },
      facts: {
        ...{ api: 'openai.chat', model: 'm' },
        parameters: { metadata: { note: secret('parameter') } },
        tools: [{ type: 'function', function: { name: 'look', description: secret('tool') } }],
        request: Buffer.from(JSON.stringify({ messages, user: secret('body') })),
      },
    });
    await home.calls.finishCall(branch, {
      ...{ by, attemptId: 'call', status: 'failed', httpStatus: 500, model: 'm', usage: null },
      ...{ firstByteMs: 1, durationMs: 2, finishReason: secret('reason') },
      error: { code: secret('code'), message: secret('error') },
      answer: { role: 'assistant', content: secret('answer') },
      response: Buffer.from(JSON.stringify({ text: secret('response') })),
    });
    const history = historyId('pool', '');
    await home.submit({ id: 's', history, branchId: 0, by, steps: [{ op: 'start', name: 'pool' }] });
    const author = { actor: 'ann' };
    await home.submit({
      ...{ id: 'r', history, branchId: 0, by: author, notes: 'a test' },
      steps: [{ op: 'request_run', rounds: 3 }],
    });
    await home.submit({
      ...{ id: 'r.ended', history, branchId: 0, by },
      steps: [{ op: 'end_run', run: 'r', how: 'failed', why: secret('why'), code: null, rounds: 0 }],
    });
    const response = await home.calls.body(branch.history, 'call', 'response');
    expect(Buffer.from(response).toString()).toBe('{"text":"[redacted:hush]"}');
    expect((await home.operations.verify()).problems).toEqual([]);
    const events = await Promise.all(
      [branch.history, history].map((each) => home.read.events(each, { limit: 1_000 })),
    );
    expect([...new Set(JSON.stringify(events, plain).match(/hush-\w+/g))]).toEqual([]);
    await home.catchUp();
    await home.close();
    expect(filesWith(directory, 'hush-')).toEqual([]);
  },
);

test.each([
  ['a pointer', { fields: ['/content/*/password'] }],
  ['a function', { function: (text: string) => text.replaceAll('hush-message', '…') }],
])(
  'under %s, which takes nothing out of bytes, no body is kept',
  { tags: ['calls§2.4'] },
  async (_what, redact) => {
    using at = temporaryHome();
    const { directory } = at;
    const home = await openHome({ directory, create: true, redact });
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'hush-message', password: 'hush' }] }];
    const { branch } = await home.calls.recordRequest({
      ...{ id: 'call', by, messages },
      facts: {
        ...{ api: 'openai.chat', model: 'm', parameters: {}, tools: null },
        request: Buffer.from(JSON.stringify({ messages })),
      },
    });
    await home.calls.finishCall(branch, {
      ...{ by, attemptId: 'call', status: 'answered', httpStatus: 200, model: 'm', usage: null },
      ...{ firstByteMs: 1, durationMs: 2, finishReason: 'stop', error: null },
      answer: { role: 'assistant', content: 'hush-message' },
      response: Buffer.from('hush-message'),
    });
    for (const which of ['request', 'response'] as const)
      await expect(home.calls.body(branch.history, 'call', which)).rejects.toMatchObject({
        code: 'E_CALL_BODY_NOT_KEPT',
        message: `the ${which} of call is not kept: nobody could surely take secrets out of its bytes`,
      });
    const { notKept } = await home.calls.find(branch.history, 'call');
    expect(notKept).toEqual(['request', 'response']);
    expect((await home.operations.verify()).problems).toEqual([]);
    await home.close();
  },
);
