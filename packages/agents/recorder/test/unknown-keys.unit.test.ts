import { expect, test } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as later } from 'node:timers/promises';
import {
  openCallRecorder,
  record,
  recordAnswer,
  recordCall,
  recordingFetch,
  recordingMiddleware,
} from '../src/index.ts';
import type { CallRecorder } from '../src/index.ts';
import { exchangeHead } from '../src/calls/exchange-json.ts';

/** A recorder that keeps nothing but what begins. */
const openFake = () => {
  const began: unknown[] = [];
  const calls = {
    begin: (start: unknown, scope: unknown) => {
      began.push([start, scope]);
      return { id: `call-${began.length}`, end: () => undefined };
    },
  } as unknown as CallRecorder;
  return { began, calls };
};

test(
  'keys that no function knows are said once, and the call is recorded all the same',
  { tags: ['calls§7.4'] },
  () => {
    const { began, calls } = openFake();
    const said: string[] = [];
    const warn = (sentence: string): void => void said.push(sentence);
    const options = { calls, warn, histroy: 'shop' };
    const call = { messages: [{ role: 'user', content: 'Hi.' }], temperature: 0 };
    for (let i = 0; i < 3; i++) recordCall(call, options);
    expect(said).toEqual([
      'recordCall does not know temperature: nothing reads what stands there',
      'recordCall does not know histroy: nothing reads what stands there',
    ]);
    expect(began).toHaveLength(3);
  },
);

test('options in the first argument are said with where they belong', { tags: ['calls§7.4'] }, () => {
  const { calls } = openFake();
  const said: string[] = [];
  const warn = (sentence: string): void => void said.push(sentence);
  const misplaced = { messages: [], url: 'http://127.0.0.1:1', history: 'shop' };
  recordCall(misplaced, { calls, warn });
  expect(said).toEqual([
    'recordCall takes options in its second argument: recordCall({ messages }, { url, history })',
  ]);
});

test(
  'a warning that throws harms nobody, and every function says what it does not know',
  { tags: ['calls§7.4'] },
  async () => {
    const { calls } = openFake();
    const said: string[] = [];
    const options = {
      calls,
      warn: (sentence: string): never => {
        said.push(sentence);
        throw new Error('not now');
      },
    };
    const fetch = (): Promise<Response> => Promise.resolve(new Response('ok'));
    const asked = recordingFetch({ ...options, fetch, ...{ wran: 1 } });
    expect(await (await asked('http://x/')).text()).toBe('ok');
    const client = { withOptions: (given: object) => given };
    record(client, { ...options, ...{ urll: '' } });
    recordingMiddleware({ ...options, ...{ hsitory: '' } });
    expect(said).toEqual([
      'recordingFetch does not know wran: nothing reads what stands there',
      'record does not know urll: nothing reads what stands there',
      'recordingMiddleware does not know hsitory: nothing reads what stands there',
    ]);
    const handle = recordCall({ messages: [] }, options);
    expect(() => recordAnswer(handle, { answer: 'Yes.', ...{ answr: 1 } })).not.toThrow();
  },
);

test('what is no JSON is said in words, and harms nobody', { tags: ['calls§7.4'] }, () => {
  const { calls } = openFake();
  const said: string[] = [];
  const warn = (sentence: string): never => {
    said.push(sentence);
    throw new Error('not now');
  };
  const messages = [{ role: 'user', content: () => 'Hi.' }];
  expect(recordCall({ messages }, { calls, warn })).toEqual({ id: '' });
  const round: { role: string; self?: unknown } = { role: 'user' };
  round.self = round;
  const start = { form: 'said', model: null, messages: [round], parameters: {}, tools: null } as never;
  expect(() => exchangeHead({ id: 'a', recorder: 'r', scope: {}, start, sentAt: 0 }, undefined)).toThrow(
    'its messages, parameters, tools or answer hold an object that contains itself, which no JSON can',
  );
  expect(said).toEqual([expect.stringMatching(/^a call was not recorded: its messages, .* no JSON can: /)]);
});

test(
  'a call that holds itself is said for what it is, and counted once, though the disk takes it',
  { tags: ['calls§7.4'] },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-no-json-'));
    const said: string[] = [];
    const warn = (sentence: string): void => void said.push(sentence);
    const calls = openCallRecorder({ url: 'http://127.0.0.1:9', directory, warn });
    try {
      const round: { role: string; self?: unknown } = { role: 'user' };
      round.self = round;
      const handle = recordCall({ messages: [round] }, { calls, warn });
      while (said.length === 0) await later();
      recordAnswer(handle, { answer: 'Yes.' });
      expect(said).toEqual([
        'a call was not recorded: its messages, parameters, tools or answer hold an object that contains itself, which no JSON can',
      ]);
      expect(calls.status()).toMatchObject({ dropped: 1, waiting: 0 });
    } finally {
      await calls.close({ timeout: 0 });
      rmSync(directory, { recursive: true });
    }
  },
);

test('what fails for another reason than its JSON is said as it is', { tags: ['calls§7.4'] }, () => {
  const said: string[] = [];
  const warn = (sentence: string): void => void said.push(sentence);
  const calls = {
    begin: () => {
      throw new Error('there is no room');
    },
  } as unknown as CallRecorder;
  expect(recordCall({ messages: [] }, { calls, warn })).toEqual({ id: '' });
  expect(said).toEqual(['a call was not recorded: there is no room']);
});
