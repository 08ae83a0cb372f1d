import { sendAnswer, sendJson, startModels, type ModelScript } from '@stemma/test-kit';
import { afterEach, expect, test } from 'vitest';
import { answerOf, askMind, openMind, requestFor, type MindAttempt, type MindLimits } from '../src/index.ts';

const KEY = 'sk-secret-0123456789';
const messages = [{ role: 'user', content: 'Hello.' }];
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const serve = async (script: ModelScript) => {
  const server = await startModels(script);
  closing.push(() => server.close());
  return server;
};

/** Pauses are noted, and take no time. */
const mindAt = (url: string, kind = 'openai', limits: Partial<MindLimits> = {}) => {
  const pauses: number[] = [];
  const around = {
    env: { STEMMA_OPENAI_API_KEY: KEY, STEMMA_ANTHROPIC_API_KEY: KEY },
    sleep: async (milliseconds: number) => void pauses.push(milliseconds),
    random: () => 0.5,
  };
  return { mind: openMind(`${kind}:m@${url}`, { ...around, limits }), around, pauses };
};

test.each([
  ['openai', '/chat/completions', { role: 'assistant', content: 'Hi.', refusal: null }],
  ['openai.responses', '/responses', expect.objectContaining({ role: 'assistant' })],
  ['anthropic', '/v1/messages', { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }],
] as const)(
  '%s is asked in its API, with the key in a header and nowhere else',
  { tags: ['calls§6.8'] },
  async (kind, path, said) => {
    const server = await serve((call, _n, outgoing) => sendAnswer(call, outgoing, { text: 'Hi.' }));
    const { mind, around } = mindAt(server.url, kind);
    const answer = await answerOf(mind, { messages, parameters: { temperature: 0 } }, around);
    expect(answer).toMatchObject({ answer: said, usage: { input: 12, output: 3 } });
    const [call] = server.calls;
    expect(call?.path).toBe(path);
    expect(call?.asked).toMatchObject({ model: 'm', temperature: 0 });
    expect(call?.rawHeaders.join('\n')).toContain(KEY);
    expect(JSON.stringify(mind)).not.toContain(KEY);
  },
);

const attemptAt = async (script: ModelScript, limits: Partial<MindLimits> = {}): Promise<MindAttempt> => {
  const { mind } = mindAt((await serve(script)).url, 'openai', limits);
  return mind.attempt(requestFor(mind, { messages }), new AbortController().signal);
};

const endless: ModelScript = (_call, _n, outgoing) => {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  const more = (): void => {
    while (outgoing.write('data: {"choices":[{"delta":{"content":"and on "}}]}\n\n'));
  };
  outgoing.on('drain', more);
  more();
};

test.each<[string, ModelScript, Partial<MindLimits>, object]>([
  [
    'hangs',
    () => undefined,
    { firstByte: 50 },
    { status: 'timed out', error: { code: 'E_MIND_TIMEOUT' }, retry: null },
  ],
  [
    'drips',
    (_call, _n, outgoing) => void outgoing.write('{'),
    { whole: 80 },
    { status: 'timed out', error: { code: 'E_MIND_TIMEOUT' } },
  ],
  [
    'never ends',
    endless,
    { answer: 100_000 },
    { response: null, error: { code: 'E_MIND_ANSWER_TOO_LARGE' } },
  ],
  [
    'sends 100 MB',
    (_call, _n, outgoing) => {
      outgoing.writeHead(200, { 'content-length': 100_000_000 });
      outgoing.write('{');
    },
    {},
    { status: 'failed', response: null, error: { code: 'E_MIND_ANSWER_TOO_LARGE' }, retry: null },
  ],
  [
    'sends garbage',
    (_call, _n, outgoing) => void outgoing.end(Buffer.from([0xff, 0x00, 0x7b])),
    {},
    { status: 'failed', error: { code: 'E_MIND_ANSWER_INVALID' }, retry: null },
  ],
  [
    'sends another shape',
    (_call, _n, outgoing) => sendJson(outgoing, 200, { hello: 'world' }),
    {},
    { error: { code: 'E_MIND_ANSWER_INVALID' }, retry: null },
  ],
  [
    'ends in the middle',
    (_call, _n, outgoing) => {
      outgoing.writeHead(200, { 'content-length': 50 });
      outgoing.write('{"choices":', () => outgoing.destroy());
    },
    {},
    { status: 'failed', error: { code: 'E_MIND_UNREACHABLE' }, retry: { after: null } },
  ],
  [
    'redirects',
    (_call, _n, outgoing) => void outgoing.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
    {},
    { httpStatus: 307, error: { code: 'E_MIND_REFUSED' }, retry: null },
  ],
  [
    'refuses',
    (_call, _n, outgoing) => sendJson(outgoing, 400, { error: { message: 'no such model' } }),
    {},
    { error: { code: 'E_MIND_REFUSED', message: expect.stringContaining('no such model') as string } },
  ],
  [
    'has no quota',
    (_call, _n, outgoing) =>
      sendJson(outgoing, 429, { error: { code: 'insufficient_quota', message: 'pay' } }),
    {},
    { error: { code: 'E_MIND_BUSY' }, retry: null },
  ],
])(
  'a server that %s ends in a coded error',
  { tags: ['calls§6.8'] },
  async (_what, script, limits, expected) => {
    expect(await attemptAt(script, limits)).toMatchObject(expected);
  },
);

test(
  'a server that shows the key has it taken out of what it says, byte for byte as long',
  { tags: ['calls§6.8'] },
  async () => {
    const shown = await attemptAt((call, _n, outgoing) =>
      sendJson(outgoing, 401, { error: { message: `bad key in ${call.rawHeaders.join(' ')}` } }),
    );
    expect(JSON.stringify(shown)).not.toContain(KEY);
    expect(Buffer.from(shown.response as Uint8Array).toString()).toContain(
      `Bearer ${'*'.repeat(KEY.length)}`,
    );
  },
);

test(
  '429, 5xx and resets are tried again after pauses that grow, or that the server asks for',
  { tags: ['calls§6.8'] },
  async () => {
    const server = await serve((call, n, outgoing) => {
      if (n === 1) sendJson(outgoing, 429, { error: { message: 'slow' } }, { 'retry-after': '7' });
      else if (n === 2) sendJson(outgoing, 500, {});
      else if (n === 3) outgoing.destroy();
      else sendAnswer(call, outgoing, { text: 'At last.' });
    });
    const { mind, around, pauses } = mindAt(server.url);
    const tries: [number, string][] = [];
    const attempt = await askMind(mind, requestFor(mind, { messages }), {
      ...around,
      signal: new AbortController().signal,
      after: (n, { status }) => void tries.push([n, status]),
    });
    expect(attempt.answer?.answer?.['content']).toBe('At last.');
    expect(tries).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [3, 'failed'],
      [4, 'answered'],
    ]);
    expect(pauses).toEqual([7_000, 750, 1_500]);
  },
);

test('tries end when they are used up, and when a server asks to wait too long', async () => {
  const busy = await serve((_call, _n, outgoing) => sendJson(outgoing, 503, {}));
  const one = mindAt(busy.url);
  await expect(answerOf(one.mind, { messages }, one.around)).rejects.toMatchObject({ code: 'E_MIND_FAILED' });
  expect(busy.calls).toHaveLength(4);
  const far = await serve((_call, _n, outgoing) => sendJson(outgoing, 429, {}, { 'retry-after': '3600' }));
  const other = mindAt(far.url);
  await expect(answerOf(other.mind, { messages }, other.around)).rejects.toMatchObject({
    code: 'E_MIND_BUSY',
  });
  expect(far.calls).toHaveLength(1);
});

test(
  'no more calls wait at a time, and no more are made a minute, than the limits say',
  { tags: ['calls§6.8'] },
  async () => {
    let [open, most] = [0, 0];
    const server = await serve((call, _n, outgoing) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        sendAnswer(call, outgoing, { text: 'x' });
      });
    });
    let clock = 0;
    const sleep = async (milliseconds: number): Promise<void> => void (clock += milliseconds);
    const mind = openMind(`openai:m@${server.url}`, {
      env: {},
      now: () => clock,
      sleep,
      limits: { concurrency: 2, perMinute: 4 },
    });
    const { signal } = new AbortController();
    const all = Array.from({ length: 9 }, () => mind.attempt(requestFor(mind, { messages }), signal));
    expect((await Promise.all(all)).every(({ status }) => status === 'answered')).toBe(true);
    expect(most).toBeLessThanOrEqual(2);
    expect(clock).toBe(120_000);
  },
);

test(
  'a call that is cancelled ends at once, while it is out and while it waits for its turn',
  { tags: ['calls§6.8'] },
  async () => {
    const server = await serve(() => undefined);
    const { mind } = mindAt(server.url, 'openai', { concurrency: 1 });
    const stop = new AbortController();
    const both = [1, 2].map(() => mind.attempt(requestFor(mind, { messages }), stop.signal));
    await expect.poll(() => server.calls.length).toBe(1);
    stop.abort();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    expect(server.calls).toHaveLength(1);
  },
);
