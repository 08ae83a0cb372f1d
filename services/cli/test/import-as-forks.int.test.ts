import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const home = join(folder.path, 'home');
keepHomeOpen(home);
const at = ['--home', home];

type Message = { readonly role: string; readonly content: string };
const system: Message = { role: 'system', content: 'Be kind.' };
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const write = (name: string, text: string): string => {
  const file = join(folder.path, name);
  writeFileSync(file, text);
  return file;
};
const threadOf = async (branch: string): Promise<unknown> =>
  JSON.parse((await runStemma(['thread', branch, '--provider', 'openai', ...at])).stdout);

type Found = {
  readonly imported: readonly {
    readonly history: string;
    readonly branch: string;
    readonly branchId: number;
    readonly repeated: boolean;
  }[];
};
const importing = (files: readonly string[], history: string): Promise<Found> =>
  stemmaJson(['import', ...files, '--as-forks', '--history', history, ...at]) as Promise<Found>;

test('trials with one beginning become branches of one history, and another beginning a history of its own', async () => {
  const trials = {
    'trial-0': [system, user('Where?'), assistant('In Ghent.'), user('When?'), assistant('At noon.')],
    'trial-1': [system, user('Where?'), assistant('In Ghent.'), user('Why?'), assistant('For tea.')],
    'trial-2': [system, user('Where?'), assistant('In Ghent.'), user('Why?'), assistant('For cake.')],
    'trial-3': [system, user('Where?'), assistant('In Ghent.'), user('When?'), assistant('At noon.')],
    'trial-4': [system, user('Who?'), assistant('Ann.')],
  };
  const files = Object.entries(trials).map(([name, messages]) =>
    write(`${name}.json`, JSON.stringify(messages)),
  );
  const { imported } = await importing(files, 'task');
  const [first] = imported;
  expect(imported.map(({ history }) => history === first?.history)).toEqual([true, true, true, true, false]);
  expect(imported.slice(0, 4).map(({ branchId }) => branchId > 0)).toEqual([false, true, true, false]);
  expect(await threadOf('task')).toEqual(trials['trial-0']);
  expect(await threadOf('task:trial-1')).toEqual(trials['trial-1']);
  expect(await threadOf('task:trial-2')).toEqual(trials['trial-2']);
  expect(await threadOf('trial-4')).toEqual(trials['trial-4']);
  const { imported: once } = await importing(files, 'task');
  expect(once.map(({ branch, repeated }) => [branch, repeated])).toEqual(
    imported.map(({ branch }) => [branch, true]),
  );
  const { stderr } = await runStemma(['import', ...files, '--as-forks', '--history', 'task', ...at]);
  expect(stderr).toContain('the conversations begin in 2 ways: each is a history');
  const verified = await runStemma(['verify', ...at]);
  expect(verified.code).toBe(0);
});

const session = (
  id: string,
  said: readonly (readonly [text: string, answer: readonly string[]])[],
): string => {
  let parentUuid: string | null = null;
  const lines = said.flatMap(([text, answer], turn) => {
    const line = (type: string, uuid: string, message: object): object => {
      const made = { parentUuid, type, uuid, sessionId: id, version: '2.1.0', message };
      parentUuid = uuid;
      return { ...made, timestamp: `2026-09-01T10:0${turn}:0${id.length % 9}.000Z` };
    };
    return [
      line('user', `${id}-u${turn}`, { role: 'user', content: text }),
      ...answer.map((part, n) =>
        line('assistant', `${id}-a${turn}.${n}`, {
          ...{ id: `${id}-m${turn}`, role: 'assistant', model: 'claude-x', type: 'message' },
          content: [{ type: 'text', text: part }],
          ...{ stop_reason: 'end_turn', usage: { input_tokens: 10 + id.length, output_tokens: 3 } },
        }),
      ),
    ];
  });
  return lines.map((each) => JSON.stringify(each)).join('\n');
};

test('calls of branches that part behind one snapshot are told apart where they are exported', async () => {
  const files = ['In Ghent.', 'In Bruges.', 'At sea.'].map((answer, n) =>
    write(`answer-${n}.json`, JSON.stringify([system, user('Where is she?'), assistant(answer)])),
  );
  await importing(files, 'parted');
  const spans = join(folder.path, 'parted.jsonl');
  await runStemma(['export', 'parted', '--format', 'otlp', '-o', spans, ...at]);
  const other = ['--home', join(folder.path, 'other')];
  const { imported } = (await stemmaJson(['import', spans, ...other])) as { imported: { calls: number }[] };
  expect(imported).toMatchObject([{ calls: 3 }]);
});

test('sessions part where an answer does, also in the middle of it, and each call has its own answer', async () => {
  const files = [
    write(
      'a.jsonl',
      session('aa', [
        ['Go.', ['Left', 'then right']],
        ['On.', ['Done']],
      ]),
    ),
    write(
      'b.jsonl',
      session('bbb', [
        ['Go.', ['Left', 'then straight']],
        ['On.', ['Lost']],
      ]),
    ),
    write(
      'c.jsonl',
      session('cccc', [
        ['Go.', ['Left', 'then right']],
        ['Back.', ['Home']],
      ]),
    ),
  ];
  const { imported } = await importing(files, 'walk');
  expect(new Set(imported.map(({ history }) => history)).size).toBe(1);
  const answers = async (branch: string): Promise<readonly unknown[]> => {
    const calls = (await stemmaJson(['calls', branch, ...at])) as readonly { readonly attempt_id: string }[];
    const found = calls.map(({ attempt_id: id }) => stemmaJson(['call', branch, id, ...at]));
    return (await Promise.all(found)).map((call) => JSON.stringify((call as { answer: unknown }).answer));
  };
  const [first = '', second = '', third = ''] = imported.map(({ branch }) => branch);
  expect(await answers(first)).toMatchObject([/right/, /Done/].map((text) => expect.stringMatching(text)));
  expect(await answers(second)).toMatchObject(
    [/straight/, /Lost/].map((text) => expect.stringMatching(text)),
  );
  expect(await answers(third)).toMatchObject([/right/, /Home/].map((text) => expect.stringMatching(text)));
  expect((await importing(files, 'walk')).imported.every(({ repeated }) => repeated)).toBe(true);
});

test('calls that hold all their messages are no trials', async () => {
  const entry = { startedDateTime: '2026-09-01T10:00:00.000Z', time: 1 };
  const request = {
    ...{ method: 'POST', url: 'https://api.openai.com/v1/chat/completions', headers: [] },
    postData: {
      mimeType: 'application/json',
      text: '{"model":"m","messages":[{"role":"user","content":"a"}]}',
    },
  };
  const response = {
    status: 200,
    headers: [],
    content: { mimeType: 'application/json', text: '{"choices":[]}' },
  };
  const har = write(
    'calls.har',
    JSON.stringify({ log: { version: '1.2', entries: [{ ...entry, request, response }] } }),
  );
  const { code, stderr } = await runStemma(['import', har, '--as-forks', ...at]);
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining('E_USAGE')]);
});
