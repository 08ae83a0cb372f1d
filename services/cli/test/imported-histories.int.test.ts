import { historyId, importStep } from '@stemma/history';
import { openHome } from '@stemma/home';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test('histories and show say what a history was imported from, and no text of its file steers the terminal', async () => {
  const directory = join(folder.path, 'home');
  const at = ['--home', directory];
  const home = await openHome({ directory, create: true });
  const send = (id: string, steps: Parameters<typeof home.submit>[0]['steps']) =>
    home.submit({ id, history: historyId('parcel', ''), branchId: 0, by: { recorder: 'import' }, steps });
  await send('start', [{ op: 'start', name: 'parcel' }]);
  const title = 'Late\u001b[31m\u202eparcel\nforged: line';
  const summary = { calls: 2, fidelity: { reconstructed: 2 }, dropped: { ['line\u0007x']: 3 } };
  await send('imported', [importStep({ format: 'claude-code', version: '2.1.7', title, summary })]);
  await home.close();

  const imported = {
    ...{ format: 'claude-code', version: '2.1.7', title, calls: 2, fidelity: { reconstructed: 2 } },
    dropped: { 'line\u0007x': 3 },
  };
  expect(await stemmaJson(['histories', ...at])).toMatchObject([{ name: 'parcel', import: imported }]);
  expect(await stemmaJson(['show', 'parcel', ...at])).toMatchObject({ import: imported });
  const { stdout } = await runStemma(['show', 'parcel', ...at]);
  expect(stdout.split('\n').slice(1, 4)).toEqual([
    'Imported from claude-code 2.1.7 (Late\\u001b[31m\\u202eparcel\\nforged: line): 2 calls.',
    'Fidelity: 2 reconstructed.',
    'Not recorded: line\\u0007x (3).',
  ]);
  expect((await stemmaJson(['show', 'parcel', 'root', ...at])) as object).not.toHaveProperty('import');
});

const CONVERSATION = [
  { parentUuid: null, type: 'user', uuid: 'u1', message: { role: 'user', content: 'Where is it?' } },
  {
    ...{ parentUuid: 'u1', type: 'assistant', uuid: 'a1' },
    message: {
      ...{ id: 'm1', role: 'assistant', model: 'claude-x', content: [{ type: 'text', text: 'Here.' }] },
      ...{ stop_reason: 'end_turn', usage: { input_tokens: 9, output_tokens: 2 } },
    },
  },
].map((line) => ({ ...line, sessionId: 's', version: '2.1.0', timestamp: '2026-09-01T10:00:00.000Z' }));

/** A call of recorded traffic: its bytes are in the file. */
const TRAFFIC = {
  log: {
    version: '1.2',
    entries: [
      {
        ...{ startedDateTime: '2026-09-01T10:00:00.000Z', time: 20 },
        request: {
          ...{ method: 'POST', url: 'https://api.openai.com/v1/chat/completions' },
          headers: [{ name: 'content-type', value: 'application/json' }],
          postData: {
            mimeType: 'application/json',
            text: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] }),
          },
        },
        response: {
          ...{ status: 200, headers: [{ name: 'content-type', value: 'application/json' }] },
          content: {
            mimeType: 'application/json',
            text: JSON.stringify({
              ...{ id: 'c', object: 'chat.completion', model: 'gpt-x' },
              choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Ho' } }],
            }),
          },
        },
      },
    ],
  },
};

test('each call of an import says how true its picture is, in snapshots, calls and call', async () => {
  const at = ['--home', join(folder.path, 'true')];
  const files = [
    [join(folder.path, 'told.jsonl'), CONVERSATION.map((line) => JSON.stringify(line)).join('\n')],
    [join(folder.path, 'bytes.har'), JSON.stringify(TRAFFIC)],
  ] as const;
  for (const [file, text] of files) writeFileSync(file, text);
  const { imported } = (await stemmaJson(['import', ...files.map(([file]) => file), ...at])) as {
    readonly imported: readonly { readonly history: string }[];
  };
  const [told = '', bytes = ''] = imported.map(({ history }) => history);
  const reconstructed = { kind: 'reconstructed', missing: ['system prompt', 'tools', 'parameters'] };
  expect(await stemmaJson(['snapshots', told, ...at])).toMatchObject([{ call: { fidelity: reconstructed } }]);
  expect(await stemmaJson(['calls', bytes, ...at])).toMatchObject([
    { fidelity: { kind: 'exact', missing: [] } },
  ]);
  const said = await runStemma(['snapshots', told, ...at]);
  expect(said.stdout).toContain('reconstructed, without system prompt, tools, parameters');
  expect((await runStemma(['calls', bytes, ...at])).stdout).toContain('byte for byte');
});

test('traffic that is imported twice is there once, and the import says so; files that begin alike stay apart', async () => {
  const at = ['--home', join(folder.path, 'twice')];
  const entry = TRAFFIC.log.entries[0];
  const archive = (name: string, answer: string): string => {
    const text = JSON.stringify({
      log: { version: '1.2', creator: { name: 'x', version: '1' }, entries: [entry] },
    });
    const file = join(folder.path, `${name}.har`);
    writeFileSync(file, text.replace('Ho', answer));
    return file;
  };
  const files = [archive('one', 'Ho'), archive('two', 'Hum')];
  const take = async () =>
    (
      (await stemmaJson(['import', ...files, ...at])) as {
        readonly imported: readonly { readonly history: string; readonly repeated: boolean }[];
      }
    ).imported;
  const first = await take();
  expect(first.map(({ repeated }) => repeated)).toEqual([false, false]);
  expect(new Set(first.map(({ history }) => history)).size).toBe(2);
  const before = await stemmaJson(['histories', ...at]);
  expect((await take()).map(({ repeated }) => repeated)).toEqual([true, true]);
  expect(await stemmaJson(['histories', ...at])).toEqual(before);
});

test('calls are imported into an erasable history that is named, and into none that stays', async () => {
  const at = ['--home', join(folder.path, 'erasable')];
  const file = join(folder.path, 'sealed.har');
  writeFileSync(file, JSON.stringify(TRAFFIC));
  const unnamed = await runStemma(['import', file, '--erasable', ...at]);
  expect([unnamed.code, unnamed.stderr]).toEqual([64, expect.stringContaining('--erasable needs --history')]);
  const sealed = ['import', file, '--erasable', '--subject', 'ann', '--history', 'talk', ...at];
  expect(await stemmaJson(sealed)).toMatchObject({ imported: [{ name: 'talk', calls: 1, repeated: false }] });
  expect(await stemmaJson(sealed)).toMatchObject({ imported: [{ name: 'talk', repeated: true }] });
  await stemmaJson(['import', file, '--history', 'plain', ...at]);
  const other = await runStemma(['import', file, '--erasable', '--history', 'plain', ...at]);
  expect([other.code, other.stderr]).toEqual([3, expect.stringContaining('E_HISTORY_EXISTS')]);
  await stemmaJson(['erase', 'talk', '--yes', ...at]);
  expect(await stemmaJson(['histories', ...at])).toMatchObject([{ name: 'plain' }]);
});
