import { filesHolding, sendAnswer, startModels, type ScriptedModels } from '@stemma/test-kit';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepHomeOpen, runStemma } from './run-stemma.ts';

const KEY = 'sk-secret-of-the-command-line-01';
const folder = mkdtempSync(join(tmpdir(), 'stemma-continue-'));
const directory = join(folder, 'home');
let models: ScriptedModels;
let mind: string;
// The home is closed first.
afterAll(async () => {
  await models.close();
  rmSync(folder, { recursive: true, force: true });
});
keepHomeOpen(directory);

/** A model that looks at the north pier, and says its key in everything that it says. */
beforeAll(async () => {
  models = await startModels((call, _n, outgoing) => {
    const said = JSON.stringify(call.asked?.['messages']);
    const place = said.includes('Look west') ? 'west' : 'north';
    if (said.includes('"tool"') || said.includes('tool_result'))
      sendAnswer(call, outgoing, { text: `No ship. ${call.rawHeaders.join(' ')}` });
    else sendAnswer(call, outgoing, { tools: [{ id: 'x1', name: 'look', input: { place } }] });
  });
  mind = `openai:m-1@${models.url}`;
  const look = { name: 'look', arguments: '{ "place" : "north" }' };
  const conversation = [
    { role: 'user', content: 'Is there a ship?' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: look }] },
    { role: 'tool', tool_call_id: 'c1', content: 'none' },
    { role: 'assistant', content: 'There is none.' },
  ];
  writeFileSync(join(folder, 'harbour.json'), JSON.stringify(conversation));
  await run('import', join(folder, 'harbour.json'), '--history', 'harbour');
});
const run = (...args: string[]) =>
  runStemma([...args, '--home', directory], {
    env: { STEMMA_OPENAI_API_KEY: KEY, PATH: process.env['PATH'] ?? '' },
  });
const json = async (...args: string[]): Promise<unknown> => JSON.parse((await run(...args, '--json')).stdout);

test(
  'an imported conversation goes on with a model, its tools answered from the recording, and no key is kept or printed',
  { tags: ['calls§6.4', 'calls§6.8'] },
  async () => {
    const went = await run('continue', 'harbour@c1', '--mind', mind, '--calls', '5', '--name', 'again');
    expect(went).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('done: the model has answered') as string,
    });
    expect(went.stderr).toContain('look: answered by the recording');
    expect(models.calls.at(-1)?.rawHeaders.join(' ')).toContain(KEY);
    const again = await run('retry', 'harbour:again', '@c1', '--mind', mind, '--notes', '');
    expect(again.stdout).toContain('the same tools are called in 1 of 1 answers');
    const failed = await run(
      'continue',
      'harbour',
      '--name',
      'f',
      '--mind',
      'openai:m@http://127.0.0.1:9/v1',
    );
    const all = [went, again, failed].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(all).not.toContain(KEY);
    expect(filesHolding(directory, [KEY])).toEqual([]);
    expect(filesHolding(directory, ['No ship.'])).not.toEqual([]);
  },
);

test(
  'a run that stops says why and how to go on, and a command goes on with it',
  { tags: ['calls§6.5', 'calls§6.7'] },
  async () => {
    await run('fork', 'harbour', '@c1', '--name', 'west', '--notes', '');
    await run('inject', 'harbour:west', 'Look west.', '--role', 'user', '--notes', '');
    const options = ['harbour:west', '--mind', mind, '--calls', '4', '--run', 'w', '--notes', ''];
    const stopped = await run('continue', ...options);
    expect(stopped.code).toBe(1);
    expect(stopped.stdout).toContain('nobody knows what look({"place":"west"}) gives');
    expect(await json('continue', ...options, '--tools', 'recorded', 'echo fog')).toMatchObject({
      ended: 'done',
      forked: false,
      calls: [{ attempt_id: 'w.c1', status: 'answered' }, { attempt_id: 'w.c2' }],
    });
    const snapshots = (await json('snapshots', 'harbour:west')) as { calls: number }[];
    expect(snapshots.map(({ calls }) => calls)).toEqual([0, 1, 1]);
  },
);

test.each([
  [['continue', 'harbour@c1'], 'E_USAGE'],
  [['continue', 'harbour@c1', '@c2', '--mind', 'offline'], 'E_USAGE'],
  [['continue', 'harbour', '--mind', 'gpt'], 'E_MIND_INVALID'],
  [['continue', 'harbour', '--mind', 'anthropic:m'], 'E_MIND_KEY_MISSING'],
  [['continue', 'harbour', '--mind', 'offline', '--set', 'messages=[]'], 'E_USAGE'],
  [['continue', 'harbour', '--mind', 'offline', '--tools', 'ask'], 'E_USAGE'],
  [['continue', 'harbour', '--mind', 'offline', '--tools', 'none', 'recorded'], 'E_USAGE'],
  [['continue', 'harbour', '--mind', 'offline', '--run', 'a b'], 'E_USAGE'],
  [['retry', 'harbour', '--mind', 'offline'], 'E_USAGE'],
  [['retry', 'harbour', 'nobody', '--mind', 'offline'], 'E_CALL_NOT_FOUND'],
  [['retry', 'harbour', '@c1', '--mind', 'offline', '--edit', join(folder, 'none.json')], 'E_IO'],
])('%j is refused with %s, and nothing is recorded', async (args, code) => {
  const frames = async () => ((await json('histories')) as { frames: number }[])[0]?.frames;
  const before = await frames();
  const { stderr } = await run(...args);
  expect(stderr).toContain(code);
  expect(await frames()).toBe(before);
});
