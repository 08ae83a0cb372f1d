import { openHome } from '@stemma/home';
import { openRecorder, type RecorderOptions } from '@stemma/recorder';
import { FAKE_SECRETS, filesHolding } from '@stemma/test-kit';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGateway } from '../src/index.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stemma-redaction-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SECRETS = FAKE_SECRETS.map(([, , secret]) => secret);
const ALL = FAKE_SECRETS.map(([, text]) => text).join('\n');
const KEY = SECRETS[0] ?? '';

/** A home with rules, its door, and the bytes below it that hold a secret. */
const homeWithRules = async (rules: object = {}) => {
  const directory = join(folder, 'home');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'redact.json'), JSON.stringify(rules));
  const home = await openHome({ directory, create: true });
  const reported: string[] = [];
  const app = createGateway({ home, report: (error) => void reported.push(String(error)) });
  const send = async (path: string, body: object) => {
    const answer = await app.request(`http://127.0.0.1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const fetch = async (url: string, init: RequestInit) => app.request(url, init);
  return { home, app, send, fetch, directory, reported };
};

const agent = { recorder: 'agent' };

test('no secret that is sent over HTTP is in any byte of the home, in any answer, or in an error', async () => {
  const { home, send, directory, reported } = await homeWithRules({ labels: true });
  const answers = [
    await send('/api/histories', { id: 's', name: 'desk', ...agent }),
    ...(await Promise.all(
      FAKE_SECRETS.map(([, text], i) =>
        send('/api/histories/desk/commands', {
          id: `c${i}`,
          ...agent,
          steps: [
            {
              op: 'insert',
              parent: '^ah',
              node: { nodeType: 'cb', id: `n${i}`, content: { a: [text] }, data_x: text },
            },
            { op: 'annotate', note: `as JSON: ${JSON.stringify(text)}` },
          ],
        }),
      ),
    )),
    await send('/api/histories/desk/calls', {
      id: 'call',
      ...agent,
      messages: [{ role: 'user', content: ALL }],
    }),
    await send('/api/histories/desk/commands', {
      ...{ id: 'q', actor: 'ada', notes: ALL },
      steps: [{ op: 'query', question: ALL, answer: { a: ALL }, mind: 'm' }],
    }),
    await send('/api/histories/desk/commands', {
      ...{ id: 'large', ...agent },
      steps: [
        { op: 'insert', parent: '^ah', node: { nodeType: 'cb', content: `${'long '.repeat(80_000)}${ALL}` } },
      ],
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, ...answers.slice(1).map(() => 200)]);
  const refused = [
    await send('/api/histories', { id: 's2', name: KEY, ...agent }),
    await send('/api/histories/desk/commands', { id: 'x', ...agent, steps: [{ op: 'name', name: KEY }] }),
    await send('/api/histories/desk/commands', { id: 'x', ...agent, steps: [{ op: KEY }] }),
    await send('/api/histories/desk/commands', {
      id: 'x',
      ...agent,
      steps: [{ op: 'remove', id: 'n0', [KEY]: 1 }],
    }),
    await send('/api/histories/desk/calls', { id: 'x', ...agent, messages: [{ role: KEY }] }),
  ];
  for (const { status, text } of refused) {
    expect(status).toBe(400);
    expect(text).not.toContain(KEY);
  }
  for (const secret of SECRETS)
    for (const { text } of answers) expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
  await home.operations.doctor();
  await home.close();
  expect(reported).toEqual([]);
  expect(filesHolding(directory, SECRETS)).toEqual([]);
});

test('a redacted command that is sent again gets its first answer, and its frame lists the redactions', async () => {
  const { home, send } = await homeWithRules();
  await send('/api/histories', { id: 's', name: 'desk', ...agent });
  const command = {
    ...{ id: 'c', ...agent },
    steps: [{ op: 'insert', parent: '^ah', node: { nodeType: 'cb', id: 'n', content: `key ${KEY}` } }],
  };
  const first = JSON.parse((await send('/api/histories/desk/commands', command)).text) as object;
  expect(first).toMatchObject({
    repeated: false,
    events: [
      { type: 'NodeInserted', node: { content: 'key [redacted:api_key]' } },
      { type: 'ContentRedacted', redactions: [{ rule: 'api_key', node: 'n', field: 'content', count: 1 }] },
    ],
  });
  const again = JSON.parse((await send('/api/histories/desk/commands', command)).text) as object;
  expect(again).toEqual({ ...first, repeated: true });
  const { text } = await send('/api/histories/desk/commands', { ...command, steps: [{ op: 'commit' }] });
  expect(text).toContain('E_COMMAND_REUSED');
  await home.close();
});

test('a call that repeats a secret that was redacted before keeps its messages', async () => {
  const { home, send } = await homeWithRules();
  await send('/api/histories', { id: 's', name: 'desk', ...agent });
  const messages: object[] = [
    { role: 'system', content: `Use ${KEY}.` },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: KEY },
      ],
    },
    {
      role: 'assistant',
      tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: `{"password":"a b c"}` } }],
    },
  ];
  const counts = async (id: string) => {
    const { text } = await send('/api/histories/desk/calls', { id, ...agent, messages });
    const { kept, replaced, removed, inserted, events } = JSON.parse(text) as {
      readonly [name: string]: unknown;
    };
    const redacted = (events as { type: string; redactions: unknown }[]).find(
      ({ type }) => type === 'ContentRedacted',
    );
    return [kept, replaced, removed, inserted, redacted?.redactions];
  };
  expect(await counts('one')).toEqual([
    ...[0, 0, 0, 3],
    [
      { rule: 'api_key', node: 'n:0:1:0', field: 'content', count: 1 },
      { rule: 'api_key', node: 'n:0:1:2', field: 'content', count: 1 },
      { rule: 'credential', node: 'n:0:1:3', field: 'content', count: 1 },
    ],
  ]);
  messages.push({ role: 'tool', tool_call_id: 't', content: 'done' });
  expect(await counts('two')).toEqual([3, 0, 0, 1, undefined]);
  messages[0] = { role: 'system', content: `Use ${KEY} well.` };
  expect(await counts('three')).toEqual([
    ...[3, 1, 0, 0],
    [{ rule: 'api_key', node: 'n:0:1:0', field: 'content', count: 1 }],
  ]);
  expect((await counts('three')).slice(0, 4)).toEqual([3, 1, 0, 0]);
  await home.close();
});

test('a recorder redacts before it sends, to a server without rules as to a home', async () => {
  const sent: string[] = [];
  const directory = join(folder, 'home');
  const home = await openHome({ directory, create: true });
  const app = createGateway({ home });
  const fetch = async (url: string, init: RequestInit) => {
    sent.push((init.body ?? '') as string);
    return app.request(url, init);
  };
  const places: readonly Partial<RecorderOptions>[] = [
    { url: 'http://127.0.0.1/', fetch, history: 'a' },
    { home: directory, history: 'b' },
  ];
  for (const place of places) {
    const redact = { function: (text: string) => text.replace('Ada', 'A.') };
    const desk = await openRecorder({ history: '', recorder: 'agent', redact, ...place });
    await desk.insert('^ah', { id: 'n', content: `Ada: ${ALL}` });
    await desk.recordCall([{ role: 'user', content: `Ada says: ${ALL}` }]);
    expect(await desk.messages()).toContain('A. says: [redacted:api_key]');
    await expect(desk.name(KEY)).rejects.toMatchObject({ code: 'E_REDACTION_REFUSED' });
    await desk.close();
    const events = await home.read.events((await home.find(place.history ?? '')).history);
    expect(events.map(({ event }) => event.type).filter((type) => type === 'ContentRedacted')).toHaveLength(
      2,
    );
  }
  await home.close();
  expect(
    SECRETS.filter((secret) => sent.some((body) => body.includes(JSON.stringify(secret).slice(1, -1)))),
  ).toEqual([]);
  expect(filesHolding(directory, [...SECRETS, 'Ada'])).toEqual([]);
});

test('commands keep their order, however long the redaction function of the user takes for one of them', async () => {
  const directory = join(folder, 'home');
  const slow = new Promise<string>((resolve) => setImmediate(() => resolve('first')));
  const home = await openHome({
    directory,
    create: true,
    redact: { function: (text) => (text === 'first' ? slow : text) },
  });
  const started = await home.submit({
    ...{ id: 's', history: 'h', branchId: 0, by: agent, steps: [{ op: 'start', name: null }] },
  });
  const outcomes = await Promise.all(
    ['first', 'second', 'third'].map((content, i) =>
      home.submit({
        ...{ id: content, history: 'h', branchId: 0, by: agent, expected: started.seq + i },
        steps: [{ op: 'insert', parent: '^ah', node: { nodeType: 'cb', content } }],
      }),
    ),
  );
  expect(outcomes.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  await home.close();
});

test('when the redaction function fails, the command is refused and nothing of it is written', async () => {
  writeFileSync(
    join(folder, 'own.ts'),
    `export default (text: string) => { if (text.includes('Ada')) throw new Error(text); return text; };`,
  );
  const { home, send, directory, reported } = await homeWithRules({ function: '../own.ts' });
  await send('/api/histories', { id: 's', name: 'desk', ...agent });
  const insertion = (content: string) => ({
    ...{ id: content, ...agent },
    steps: [{ op: 'insert', parent: '^ah', node: { nodeType: 'cb', content } }],
  });
  const { status, text } = await send('/api/histories/desk/commands', { ...insertion('Ada L.'), id: 'c' });
  expect([status, text]).toEqual([500, expect.stringContaining('E_REDACTION_FAILED')]);
  expect(text).not.toContain('Ada');
  expect((await send('/api/histories/desk/commands', { ...insertion('Bob'), id: 'c' })).status).toBe(200);
  await home.close();
  expect(reported).toEqual([]);
  expect(filesHolding(directory, ['Ada L.'])).toEqual([]);
});
