import { hashOfSession } from '@stemma/model-apis';
import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordExchange, type ExchangeScope } from '../src/index.ts';
import { callsTool, openRecording, result, says, system, user, type Message } from './recorded-agent.ts';

let directory: string;
let home: Home;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-sessions-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true });
});

const S = system('You help.');
const uuid = (n: number): string => `0f9c1f2e-7a55-4c1e-9d10-${String(n).padStart(12, '0')}`;

/** How clients say to which session a call belongs. */
const SAID = {
  'a header': (n: number) => ({ session: hashOfSession(`ses-${n}`) }),
  'a cache key with an id': (n: number) => ({ prompt_cache_key: uuid(n) }),
  'metadata of OpenAI': (n: number) => ({ metadata: { step: '7', session_id: `s${n}` } }),
  'the session of Claude Code': (n: number) => ({
    metadata: { user_id: `user_1c_account_${uuid(0)}_session_${uuid(n)}` },
  }),
  'the session of Claude Code as JSON': (n: number) => ({
    metadata: { user_id: JSON.stringify({ device_id: 'd1', account_uuid: uuid(0), session_id: uuid(n) }) },
  }),
  'a user of Anthropic': (n: number) => ({ metadata: { user_id: `user-${n}` } }),
} as const;
type Said = { readonly session?: string; readonly [name: string]: unknown };

let calls = 0;
const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** A call with its bytes: of OpenAI's API, or of Anthropic's. */
const wireCall = (
  scope: ExchangeScope,
  messages: readonly Message[],
  answer: string,
  { session, ...parameters }: Said,
  api: 'openai' | 'anthropic' = 'openai',
): ReturnType<typeof recordExchange> => {
  const isOpenAI = api === 'openai';
  const wire = { form: 'wire', contentType: 'application/json', coding: null } as const;
  const common = { status: 'answered', firstByteMs: null, durationMs: null, error: null } as const;
  const body = isOpenAI
    ? { model: 'm', messages, ...parameters }
    : { model: 'm', max_tokens: 9, system: S['content'], messages: messages.slice(1), ...parameters };
  const answered = isOpenAI
    ? { object: 'chat.completion', choices: [{ index: 0, finish_reason: 'stop', message: says(answer) }] }
    : {
        type: 'message',
        stop_reason: 'end_turn',
        ...says(answer),
        content: [{ type: 'text', text: answer }],
      };
  return recordExchange(home, {
    ...{ id: `said-${++calls}`, by: { recorder: 'test' }, scope },
    request: {
      ...{ ...wire, method: 'POST', session },
      ...{ path: isOpenAI ? '/v1/chat/completions' : '/v1/messages', body: bytesOf(body) },
    },
    end: { ...common, response: { ...wire, httpStatus: 200, body: bytesOf({ model: 'm', ...answered }) } },
  });
};

const SCOPES: readonly ExchangeScope[] = [null, { run: 'r' }, { name: 'chat' }];

test.each([
  ...SCOPES.map((scope) => ['a header', scope] as const),
  ...Object.keys(SAID)
    .slice(1)
    .map((how) => [how as keyof typeof SAID, { run: 'r' }] as const),
])(
  'two sessions never share a conversation, even if all they say is the same: %s, %o',
  async (how, scope) => {
    const say: (n: number) => Said = SAID[how];
    const api = /Claude|Anthropic/.test(how) ? 'anthropic' : 'openai';
    const lists: Message[][] = [1, 2].map(() => [S, user('hi')]);
    const places: string[][] = [[], []];
    for (let turn = 0; turn < 3; turn++) {
      // All else that decides in memory is another process's now.
      if (turn === 2) {
        await home.close();
        home = await openHome({ directory });
      }
      for (const [i, list] of lists.entries()) {
        const { branch, match } = await wireCall(scope, list, 'Hello.', say(i), api);
        places[i]?.push(`${branch.history} ${branch.branchId} ${match}`);
        list.push(says('Hello.'), user('Go on.'));
      }
    }
    for (const of of places) {
      const [place] = of[0]?.split(/ \w+$/) ?? [];
      expect(of).toEqual([`${place} started`, `${place} appended`, `${place} appended`]);
    }
    expect(places[0]).not.toEqual(places[1]);
  },
);

test('a session is found among many that begin with the same words', { tags: ['calls§3.14'] }, async () => {
  const list = [S, user('hi')];
  const firsts = [];
  for (let n = 0; n < 24; n++)
    firsts.push(await wireCall({ run: 'r' }, list, 'Hello.', { prompt_cache_key: uuid(n) }));
  await home.close();
  home = await openHome({ directory });
  const more = [...list, says('Hello.'), user('Go on.')];
  for (const [n, { branch }] of firsts.entries()) {
    const next = await wireCall({ run: 'r' }, more, 'Yes.', { prompt_cache_key: uuid(n) });
    expect([next.match, next.branch]).toEqual(['appended', branch]);
  }
  // A list that shares nothing, in the same session, is told where it may come from.
  const fresh = await wireCall({ run: 'r' }, [S, user('Something new.')], 'Yes.', {
    prompt_cache_key: uuid(5),
  });
  expect([fresh.match, await mayContinue(fresh.branch.history)]).toEqual([
    'started',
    firsts[5]?.branch.history,
  ]);
});

const mayContinue = async (history: string): Promise<string | undefined> => {
  const { histories } = await home.read.listHistories({});
  return histories.find((each) => each.history === history)?.branches[0]?.mayContinue?.history;
};

test(
  'a session places no call by itself: its helpers are conversations of their own',
  { tags: ['calls§3.14'] },
  async () => {
    const { call } = openRecording(home, { run: 'r' });
    const parameters = { prompt_cache_key: uuid(1) };
    const task = callsTool('c1', 'Task', { prompt: 'Find all boats in the harbour.' });
    const main = await call([S, user('Plan my evening.')], task, { parameters });
    const helper = [system('You search.'), user('Find all boats in the harbour.')];
    const first = await call(helper, says('Three.'), { parameters });
    const title = await call([system('You name chats.'), user('Plan my evening.')], says('Evening'), {
      parameters,
    });
    const second = await call([...helper, says('Three.'), user('Sure?')], says('Yes.'), { parameters });
    const back = await call([S, user('Plan my evening.'), task, result('c1', 'Three.')], says('Go.'), {
      parameters,
    });
    expect([main, first, title, second, back].map(({ match }) => match)).toEqual([
      ...['started', 'started', 'started', 'appended', 'appended'],
    ]);
    const histories = [main, first, title].map(({ branch }) => branch.history);
    expect(new Set(histories).size).toBe(3);
    expect([second.branch.history, back.branch.history]).toEqual([histories[1], histories[0]]);
  },
);

test(
  'a conversation goes on though its client names its session late, or no more',
  { tags: ['calls§3.14'] },
  async () => {
    const { call } = openRecording(home, { run: 'r' });
    const named = { parameters: { metadata: { thread_id: 't1' } } };
    const lists = [
      [S, user('hi')],
      [S, user('hi'), says('a'), user('b')],
    ];
    lists.push([...(lists[1] as Message[]), says('c'), user('d')]);
    const first = await call(lists[0] as Message[], says('a'));
    const second = await call(lists[1] as Message[], says('c'), named);
    const third = await call(lists[2] as Message[], says('e'));
    expect([second, third].map(({ match, branch }) => [match, branch])).toEqual(
      Array(2).fill(['appended', first.branch]),
    );
    // Another session does not go on where the newest calls name none.
    const other = await call([...(lists[2] as Message[]), says('e'), user('f')], says('g'), {
      parameters: { metadata: { thread_id: 't2' } },
    });
    expect([other.match, other.branch.history === first.branch.history]).toEqual(['started', false]);
  },
);

test('a session that has the answers of another may continue it', { tags: ['calls§3.14'] }, async () => {
  const { call } = openRecording(home, { run: 'r' });
  const at = (n: number) => ({ parameters: { prompt_cache_key: uuid(n) } });
  const first = await call([S, user('hi')], says('Hello.'), at(1));
  const next = await call([S, user('hi'), says('Hello.'), user('Go on.')], says('Yes.'), at(2));
  expect([next.match, await mayContinue(next.branch.history)]).toEqual(['started', first.branch.history]);
  // It led to nothing: nobody knows.
  expect((await home.calls.list(first.branch)).attempts.map(({ ledTo }) => ledTo)).toEqual([[]]);
  const alike = await call([S, user('hi')], says('Hello.'), at(3));
  expect([alike.match, await mayContinue(alike.branch.history)]).toEqual(['started', undefined]);
});

test('a cache key of a whole program tells nothing apart', { tags: ['calls§3.14'] }, async () => {
  const { call } = openRecording(home, { run: 'r' });
  const at = (prompt_cache_key: string) => ({ parameters: { prompt_cache_key } });
  const first = await call([S, user('hi')], says('Hello.'), at('support-v1'));
  const next = await call([S, user('hi'), says('Hello.'), user('More.')], says('Yes.'), at('support-v2'));
  expect([next.match, next.branch]).toEqual(['appended', first.branch]);
});

test('a response that a request names says more than its session', { tags: ['calls§3.14'] }, async () => {
  const { responses } = openRecording(home, { run: 'r' });
  const answer = (id: string) => ({
    id,
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] }],
  });
  const first = await responses({ input: 'Hi', prompt_cache_key: uuid(1) }, answer('resp_1'));
  const next = await responses(
    { input: 'More.', previous_response_id: 'resp_1', prompt_cache_key: uuid(2) },
    answer('resp_2'),
  );
  expect([next.match, next.branch]).toEqual(['appended', first.branch]);
});

test('whoever assigns a call decides where its session goes on', { tags: ['calls§3.14'] }, async () => {
  const { call } = openRecording(home, { run: 'r' });
  const at = (n: number) => ({ parameters: { prompt_cache_key: uuid(n) } });
  const theirs = await call([S, user('ahoy')], says('Ahoy.'), at(1));
  const mine = await call([S, user('hi')], says('Hello.'), at(2));
  const { attempts } = await home.calls.list({ ...mine.branch });
  await home.calls.assignCall(
    { history: mine.branch.history, attemptId: attempts[0]?.attemptId ?? '' },
    { branch: theirs.branch },
    { by: { actor: 'ann' }, notes: 'it is one talk' },
  );
  const next = await call([S, user('hi'), says('Hello.'), user('More.')], says('Yes.'), at(2));
  expect([next.match, next.branch]).toEqual(['appended', theirs.branch]);
});

test('a session is kept as a hash, with the call', { tags: ['calls§3.14'] }, async () => {
  const { branch } = await wireCall({ run: 'r' }, [S, user('hi')], 'Hello.', SAID['metadata of OpenAI'](1));
  const started = (await home.read.events(branch.history)).find(
    ({ event }) => event.type === 'CallStarted',
  )?.event;
  expect(started?.type === 'CallStarted' && started.payload['data_place']).toEqual({
    session: hashOfSession('s1'),
  });
});
