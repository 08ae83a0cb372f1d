import type { ExchangeRequest } from '@stemma/api';
import { historyId } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { filesHolding } from '@stemma/test-kit';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGateway } from '../src/index.ts';
import { chatAnswer } from './proxy/scripted-upstream.ts';

let directory: string;
let home: Home;
const open = async (): Promise<void> => {
  home = await openHome({ directory, create: true });
};
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-erasable-'));
  await open();
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

/** What the calls say, and what must be nowhere in the clear. */
const WORD = 'xylophone';
const ann = { actor: 'ann' };

const ask = async (path: string, body?: unknown): Promise<{ status: number; text: string }> => {
  const response = await createGateway({ home }).request(path, {
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  return { status: response.status, text: await response.text() };
};
type Said = readonly { readonly role: string; readonly content: string }[];
const send = async (
  id: string,
  messages: Said,
  more: Partial<ExchangeRequest> = {},
  answer = chatAnswer(`the ${WORD} answers`),
): Promise<Record<string, unknown>> => {
  const { status, text } = await ask('/api/exchanges', {
    id,
    recorder: 'agent',
    request: {
      form: 'wire',
      method: 'POST',
      path: '/v1/chat/completions',
      body: { text: JSON.stringify({ model: 'm-1', messages }) },
    },
    end: {
      status: 'answered',
      first_byte_ms: 3,
      duration_ms: 9,
      error: null,
      response: { form: 'wire', http_status: 200, content_type: 'application/json', body: { text: answer } },
    },
    ...more,
  });
  return { status, ...(JSON.parse(text) as Record<string, unknown>) };
};
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

/** An erasable history that takes no other conversation: what it was imported with is sealed. */
const importErasable = async (name: string, subject: string | null): Promise<string> => {
  const brought = [user('What an import'), assistant('brings'), user('and seals')];
  await send('source-1', brought.slice(0, 1), { history: 'source' }, chatAnswer('brings'));
  await send('source', brought, { history: 'source' }, chatAnswer('yes'));
  const { text } = await ask('/api/histories/source/export?at=@c2');
  const history = historyId(name, '');
  // As other programs write it: the core of a turn has the offset 0, and cannot be taken out of it.
  const cores = text.replace(/"offset":1/g, '"offset":0');
  const step = { op: 'import', name, export: cores, erasable: { subject } } as const;
  await home.submit({ id: `import-${name}`, history, branchId: 0, by: ann, steps: [step] });
  return history;
};
const startedAs = async (history: string): Promise<unknown> =>
  (await home.read.events(history, { limit: 9 })).find(({ event }) => event.type === 'HistoryStarted')?.event;
/** Files in which a word stands in the clear, other than rows, which the histories that live are read from. */
const inTheClear = async (word = WORD): Promise<readonly string[]> => {
  await home.close();
  const found = filesHolding(directory, [word]).filter((file) => !file.includes('rows'));
  await open();
  return found;
};

test(
  'a call that does not fit into an erasable history is recorded nowhere else, and the answer says so',
  { tags: ['calls§8.6'] },
  async () => {
    const history = await importErasable('private', null);
    const before = (await home.read.histories()).map(({ history: id }) => id);
    const answer = await send('call-1', [user(`My ${WORD} is ill`)], { history: 'private' });
    expect(answer).toMatchObject({ status: 409, error: { code: 'E_CALL_NOT_ERASABLE' } });
    expect(JSON.stringify(answer)).not.toContain(WORD);
    // Neither does a branch of it that is not there.
    const branch = await send('call-2', [user(`My ${WORD} is ill`)], { history: 'private:nowhere' });
    expect(branch).toMatchObject({ status: 409, error: { code: 'E_CALL_NOT_ERASABLE' } });
    expect((await home.read.histories()).map(({ history: id }) => id)).toEqual(before);
    expect(before).toContain(history);
    expect(await inTheClear()).toEqual([]);
  },
);

test(
  'with a subject it is recorded in another erasable history about it, without a name, and what follows goes on there',
  { tags: ['calls§8.6'] },
  async () => {
    const history = await importErasable('private', 'Bob');
    const within = { history: 'private' };
    const talk = [user(`My ${WORD} is ill`)];
    const first = await send('call-1', talk, within);
    expect(first).toMatchObject({ status: 200, match: 'started' });
    expect(first['warning']).toMatch(
      /^private does not take the call .* erasable and about the same subject$/,
    );
    const beside = first['history'] as string;
    expect(beside).not.toBe(history);
    expect(await startedAs(beside)).toMatchObject({ name: null, erasable: { subject: 'Bob' } });
    const second = [...talk, assistant(`the ${WORD} answers`), user('And now?')];
    expect(await send('call-2', second, within)).toMatchObject({
      ...{ status: 200, history: beside, match: 'appended' },
    });
    // Sent again, also by a process that remembers nothing, it has the same effect.
    await home.close();
    await open();
    expect(await send('call-1', talk, within)).toMatchObject({ history: beside });
    expect(await send('call-3', [user(`Another ${WORD}`)], within)).toMatchObject({ match: 'started' });
    expect(await inTheClear()).toEqual([]);
    for (const about of await home.privacy.erasable('Bob'))
      await home.submit({
        ...{ id: `erase-${about}`, history: about, branchId: 0, by: ann },
        steps: [{ op: 'erase' }],
      });
    expect(
      (await home.read.histories()).flatMap(({ history: id, state }) => (state === 'open' ? [id] : [])),
    ).toEqual([historyId('source', '')]);
    await home.close();
    expect(filesHolding(directory, [WORD])).toEqual([]);
    await open();
    expect(await send('call-4', second, within)).toMatchObject({ status: 410 });
    expect(await inTheClear()).toEqual([]);
  },
);

test('a call to an erasable history without its key is recorded nowhere else', async () => {
  await importErasable('private', 'Bob');
  await home.close();
  const keys = join(directory, 'keys/histories');
  const away = mkdtempSync(join(tmpdir(), 'stemma-keys-'));
  mkdirSync(away, { recursive: true });
  for (const key of readdirSync(keys)) renameSync(join(keys, key), join(away, key));
  await open();
  expect(await send('call-1', [user(`My ${WORD}`)], { history: 'private' })).toMatchObject({
    status: 409,
    error: { code: 'E_HISTORY_SEALED' },
  });
  expect(await inTheClear()).toEqual([]);
  rmSync(away, { recursive: true, force: true });
});

test('a call to an erased history is refused by whatever it is named with: name, id, beginning of the id, branch', async () => {
  const history = await importErasable('private', null);
  await home.submit({ id: 'e', history, branchId: 0, by: ann, steps: [{ op: 'erase' }] });
  for (const name of ['private', history, history.slice(0, 8), 'private:0', `${history.slice(0, 8)}:main`])
    expect(await send(`call-${name}`, [user(`My ${WORD}`)], { history: name }), name).toMatchObject({
      status: 410,
      error: { code: 'E_HISTORY_ERASED' },
    });
  expect((await home.read.histories()).map(({ name }) => name)).toEqual(['source']);
  expect(await inTheClear()).toEqual([]);
});

test(
  'a sub-agent’s conversation that a call of an erasable history led to is erasable, too, and has no name',
  { tags: ['calls§8.6'] },
  async () => {
    const run = { run: 'r1' };
    const calls = (text: string): string =>
      JSON.stringify({
        model: 'm-1',
        choices: [
          {
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: 't1',
                  type: 'function',
                  function: { name: 'ask_helper', arguments: JSON.stringify({ task: text }) },
                },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
      });
    const first = await send('call-1', [user('Something harmless')], run);
    const target = historyId('private', '');
    const start = { op: 'start', name: 'private', erasable: { subject: 'Bob' } } as const;
    await home.submit({ id: 'start', history: target, branchId: 0, by: ann, steps: [start] });
    await home.calls.assignCall(
      { history: first['history'] as string, attemptId: 'call-1' },
      { branch: await home.find('private') },
      { by: ann, notes: 'his' },
    );
    // What follows goes on in the erasable history, and calls a helper.
    const task = `Find out what ails the ${WORD}`;
    const second = [user('Something harmless'), assistant(`the ${WORD} answers`), user('Go on')];
    expect(await send('call-2', second, run, calls(task))).toMatchObject({ history: target });
    const helper = await send('call-3', [user(task)], run);
    expect(helper).toMatchObject({ status: 200, match: 'started' });
    expect(await startedAs(helper['history'] as string)).toMatchObject({
      name: null,
      erasable: { subject: 'Bob' },
    });
    expect(await inTheClear(task)).toEqual([]);
  },
);
