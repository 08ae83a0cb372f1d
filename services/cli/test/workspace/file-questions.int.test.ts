import type { FileChange, RecordedFileState } from '@stemma/events';
import { recordOfSnapshot } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from '../run-stemma.ts';

const folder = temporaryFolder();
const directory = join(folder.path, 'home');
const at = ['--home', directory];
/** Milliseconds since 1970. */
let now = 1_790_000_000_000;
let home: Home;
let history = '';

const state = (text: string): RecordedFileState => ({
  sha256: createHash('sha256').update(text).digest('hex'),
  size: Buffer.byteLength(text),
  mode: '100644',
});
type Change = readonly [path: string, before: string | null, after: string | null, contents?: 'large'];

const call = async (id: string, run: string, texts: readonly string[]): Promise<void> => {
  now += 100;
  const messages = texts.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }));
  const within = run === 'r1' ? { run } : { history };
  const { branch } = await home.calls.recordRequest({
    ...{ id, by: { recorder: 'proxy' }, messages, within },
    facts: {
      ...{ api: 'openai.chat', model: 'm', parameters: {}, tools: null, run },
      request: Buffer.from(JSON.stringify({ messages })),
    },
  });
  history = branch.history;
};

type Part = { readonly part?: number; readonly parts?: number; readonly since?: number | null };

const recordFiles = (run: string, snapshot: number, changes: readonly Change[], given: Part = {}) => {
  const { part = 0, parts = 1, since = null } = given;
  const address = { history, branchId: 0, attemptId: 'c1' };
  const files = changes.map(([path, before, after, contents]): FileChange => ({
    path,
    change: snapshot === 0 ? 'present' : before === null ? 'added' : after === null ? 'removed' : 'changed',
    before: before === null ? null : state(before),
    after: after === null ? null : state(after),
    contents: after === null ? null : (contents ?? 'kept'),
    cause: snapshot === 0 ? null : { why: 'only', call: address, toolCall: 't1', tool: 'write', of: 1 },
  }));
  return home.submit({
    ...{ id: recordOfSnapshot(run, snapshot, part), history, branchId: 0, by: { recorder: 'record' } },
    steps: [
      {
        ...{ op: 'record_effect', run, snapshot, part, parts, since, startedAt: now, endedAt: now },
        ...{ from: address, until: null, directory: '/work', repositories: [], left: 0, files },
        contents: changes.flatMap(([, , text, contents], file) =>
          text === null || contents !== undefined ? [] : [{ file, encoding: 'text' as const, text }],
        ),
      },
    ],
  });
};

beforeAll(async () => {
  home = await openHome({ directory, create: true, clock: () => BigInt(now) * 1_000_000n });
  const first = now + 100;
  await call('c1', 'r1', ['one']);
  await call('c2', 'r1', ['one', 'yes', 'two']);
  await call('c3', 'r1', ['one', 'yes', 'two', 'yes', 'three']);
  await recordFiles('r1', 0, [['a', null, '1\n2\n']], { parts: 2 });
  await recordFiles(
    'r1',
    0,
    [
      ['b', null, 'b'],
      ['old', null, 'same'],
      ['pad', null, 'p'],
    ],
    { part: 1, parts: 2 },
  );
  // Looked at when the first call began, and found when the second and the third one had.
  await recordFiles(
    'r1',
    1,
    [
      ['a', '1\n2\n', '1\n3\n'],
      ['new', null, 'same'],
      ['old', 'same', null],
    ],
    { since: first },
  );
  await recordFiles(
    'r1',
    2,
    [
      ['a', '1\n3\n', '1\n4\n'],
      ['big', null, 'big', 'large'],
    ],
    { since: first + 100 },
  );
  // Killed: the last part is missing, so nobody knows what changed.
  await recordFiles('r1', 3, [['b', 'b', 'c']], { since: first + 200, parts: 2 });
  await call('d1', 'r2', ['other']);
  await recordFiles('r2', 0, [
    ['a', null, '1\n4\n'],
    ['b', null, 'c'],
  ]);
  await call('e1', 'r3', ['no files']);
  await home.close();
}, 60_000);
afterAll(() => folder[Symbol.dispose]());

test('the life of a file shows each change, and what it is put down to', async () => {
  const life = await stemmaJson(['why', history, '--file', './a', ...at]);
  const found = { from: { label: '@c1' }, until: null, why: 'only', tool: 'write', call: { label: '@c1' } };
  expect(life).toMatchObject({
    path: 'a',
    runs: [
      {
        ...{ run: 'r1', start: state('1\n2\n') },
        changes: [
          { ...found, change: 'changed', before: state('1\n2\n'), after: state('1\n3\n') },
          { ...found, change: 'changed', after: state('1\n4\n') },
        ],
      },
      { run: 'r2', start: state('1\n4\n'), changes: [] },
    ],
  });
  const { stdout } = await runStemma(['why', history, '--file', 'b', ...at]);
  // A snapshot of which a part is missing is none.
  expect(stdout).toContain('b in the run r1');
  expect(stdout).toContain('  no call changed it\n');
  expect(await runStemma(['why', history, '--file', 'never', ...at])).toMatchObject({ code: 1 });
  expect(await runStemma(['why', history, 'm1', '--file', 'a', ...at])).toMatchObject({ code: 64 });
});

test('the files of two calls are compared line by line', async () => {
  const diff = (a: string, b: string) => stemmaJson(['diff', history, a, b, '--files', ...at]);
  const file = (path: string, change: string, more = {}) => ({ path, change, from: null, ...more });
  const a = (from: string, to: string) =>
    file('a', 'changed', { lines: [{ a: 1, b: 1, lines: [' 1', `-${from}`, `+${to}`] }] });
  const renamed = file('new', 'renamed', { from: 'old', lines: [] });
  const big = file('big', 'added', { lines: null, notShown: 'large' });
  expect(await diff('@c1', '@c2')).toMatchObject({ total: 2, files: [a('2', '3'), renamed] });
  expect(await diff('@c2', '@c3')).toMatchObject({ total: 2, files: [a('3', '4'), big] });
  expect(await diff('@c1', '@c3')).toMatchObject({ total: 3, files: [a('2', '4'), big, renamed] });
  // Backwards, nothing is put down to a tool call.
  expect(await diff('@c2', '@c1')).toMatchObject({
    files: [{ ...a('3', '2'), changes: [] }, { from: 'new' }],
  });
  expect(await diff('@c1', '@c1')).toMatchObject({ total: 0, files: [] });
  const { stdout } = await runStemma(['diff', history, '@c1', '@c3', '--files', ...at]);
  expect(stdout).toContain('lines are not shown: its bytes are not kept, as they are too many\n');
  expect(stdout).toContain('= old → new  renamed, 4 bytes\n');
});

test('the files of two runs are compared, and those of a run without files are not', async () => {
  const opened = await openHome({ directory });
  const found = await Promise.all(['d1', 'e1'].map((id) => opened.calls.find(history, id)));
  await opened.close();
  const [other = [], none = []] = found.map(({ branchId, label }) => [`${history}:${branchId}`, label]);
  const diff = ([branch = '', label = '']: readonly string[]) =>
    runStemma(['diff', branch, '@c1', label, '--files', '--json', ...at]);
  const { files } = JSON.parse((await diff(other)).stdout) as { files: readonly { path: string }[] };
  expect(files.map(({ path }) => path)).toEqual(['a', 'b', 'old', 'pad']);
  expect(await diff(none)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('E_FILES_NOT_RECORDED') as string,
  });
});
