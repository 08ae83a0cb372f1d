import { branchRefOf } from '@stemma/history-store';
import { historyId } from '@stemma/history';
import { toOpenAIMessages } from '@stemma/importers';
import { type Home, openHome, temporaryHome } from '@stemma/test-kit/home';
import { expect, test } from 'vitest';

const by = { recorder: 'agent' };
const history = historyId('talk', '');
const branch = branchRefOf(history, 0);
const text = (i: number, what: string): string =>
  `${what} ${i}: ${Array.from({ length: 60 }, (_, k) => ((i * 7919 + k * 104_729) % 99_991).toString(36)).join(' ')}`;

const messagesUpTo = (turn: number): { role: string; content: string }[] =>
  Array.from({ length: turn * 2 - 1 }, (_, i) =>
    i % 2 === 0
      ? { role: 'user', content: text(i, 'question') }
      : { role: 'assistant', content: text(i, 'answer') },
  );
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
const requestOf = (turn: number): Uint8Array =>
  Buffer.from(JSON.stringify({ model: 'm-1', temperature: 0, messages: messagesUpTo(turn), tools }));

const call = (home: Home, turn: number, id = `call-${turn}`) =>
  home.calls.recordCall(branch, {
    id,
    by,
    messages: messagesUpTo(turn),
    facts: {
      api: 'openai.chat',
      model: 'm-1',
      parameters: { temperature: 0 },
      tools,
      request: requestOf(turn),
    },
  });
const answerOf = (turn: number) => ({ role: 'assistant', content: text(turn * 2 - 1, 'answer') });
const responseOf = (turn: number): Uint8Array =>
  Buffer.from(
    JSON.stringify({
      id: `r${turn}`,
      choices: [{ index: 0, message: answerOf(turn), finish_reason: 'stop' }],
      usage: { prompt_tokens: turn },
    }),
  );
const finish = (home: Home, turn: number, id = `call-${turn}`) =>
  home.calls.finishCall(branch, {
    by,
    attemptId: id,
    status: 'answered',
    httpStatus: 200,
    finishReason: 'stop',
    model: 'm-1-2026',
    usage: { input: turn, output: 5, cached: null, cacheWrite: null, reasoning: null },
    firstByteMs: 3,
    durationMs: 12,
    error: null,
    answer: answerOf(turn),
    response: responseOf(turn),
  });

test(
  'every request and response of a conversation is given back byte for byte',
  { tags: ['calls§2.1'] },
  async () => {
    using at = temporaryHome();
    let home = await openHome({ directory: at.directory, create: true });
    await home.submit({ id: 'start', history, branchId: 0, by, steps: [{ op: 'start', name: 'talk' }] });
    for (let turn = 1; turn <= 30; turn++) {
      await call(home, turn);
      if (turn !== 30) await finish(home, turn);
    }
    await home.close();
    home = await openHome({ directory: at.directory });
    const { attempts, next } = await home.calls.list(branch);
    expect(next).toBe(null);
    expect(attempts).toHaveLength(30);
    expect(attempts[4]).toMatchObject({
      attemptId: 'call-5',
      cycle: 5,
      api: 'openai.chat',
      model: 'm-1',
      status: 'answered',
      usage: { input: 5, output: 5 },
      firstByteMs: 3,
      durationMs: 12,
      finishReason: 'stop',
    });
    // Nobody has recorded its end.
    expect(attempts[29]).toMatchObject({ status: 'unknown', response: null, durationMs: null });
    for (let turn = 1; turn <= 30; turn++) {
      expect(
        Buffer.from(await home.calls.body(history, `call-${turn}`, 'request')).equals(requestOf(turn)),
      ).toBe(true);
      if (turn < 30)
        expect(
          Buffer.from(await home.calls.body(history, `call-${turn}`, 'response')).equals(responseOf(turn)),
        ).toBe(true);
    }
    expect(await home.calls.find(history, 'call-7')).toMatchObject({
      tools,
      parameters: { temperature: 0 },
      answer: answerOf(7),
    });
    await home.close();
  },
);

test(
  'the answer of the last call is there without another call, and in no thread',
  { tags: ['calls§1.7'] },
  async () => {
    using at = temporaryHome();
    const home = await openHome({ directory: at.directory, create: true });
    await home.submit({ id: 'start', history, branchId: 0, by, steps: [{ op: 'start', name: 'talk' }] });
    await call(home, 1);
    await finish(home, 1);
    expect((await home.calls.find(history, 'call-1')).answer).toEqual(answerOf(1));
    const [newest] = await home.calls.at(await home.position(branch, '@c1'));
    expect(newest).toMatchObject({ attemptId: 'call-1', status: 'answered' });
    expect(
      (await home.read.snapshots(branch)).map(({ calls, call: made }) => [calls, made?.attemptId]),
    ).toEqual([[1, 'call-1']]);
    // What was sent is the thread: an answer is in it when it is sent.
    const { tree, payloads, thread } = await home.read.view(await home.position(branch));
    expect(toOpenAIMessages(tree, payloads, thread)).toEqual(messagesUpTo(1));
    await home.close();
  },
);
