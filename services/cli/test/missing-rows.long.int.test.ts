import { COUNTED_TABLES } from '@stemma/history-store';
import { openHome } from '@stemma/home';
import { MAIN_GROUP } from '@stemma/projector';
import { isLong, sized } from '@stemma/test-kit';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeHome } from './matrix/whole-home.ts';
import { removeRows } from './remove-rows.ts';
import { holdHome, releaseHome, runStemma, temporaryFolder } from './run-stemma.ts';
import { addSteeredCalls, RUN, sendCall, WALK, WALKED } from './steered-home.ts';

const SEEDS = join(import.meta.dirname, '../../../samples/seeds.txt');
const SAID = /the rows were damaged \(.*\); they are put aside, and rebuilt from the log/;
type Places = Awaited<ReturnType<typeof addSteeredCalls>>;
/** Every list that comes from a read model, and what is looked for by name or id. */
const questionsOf = ({ steered, led }: Places): readonly (readonly string[])[] => [
  ['histories', '--json'],
  ['branches', 'tram', '--json'],
  ['list', '--json'],
  ['list', 'tram', '--json'],
  ['interventions', 'tram', '--json'],
  ['interventions', 'tram', '--type', 'fork', '--json'],
  ['interventions', 'tram', '--actor', 'tester', '--json'],
  ['interventions', 'tram', '--branch', 'side', '--json'],
  ['interventions', 'tram', '--snapshot', '@c5', '--json'],
  ['compare', 'tram', 'side', 'main', '--json'],
  ['log', 'tram', '--json'],
  ['why', 'tram', 'm7', '--json'],
  ['diff', 'tram', '@c1', '@c7', '--explain', '--json'],
  ['diff', 'checkout', '@c3', '@c12', '--explain', '--json'],
  ['stages', 'tram', '@c7', '--json'],
  ['stages', 'checkout', '--json'],
  ['calls', 'agent', '--json'],
  ['call', 'agent', '@c2', '--raw', 'request'],
  ['call', 'agent', 'call-3', '--raw', 'response'],
  ['thread', 'tram', '@name:kept'],
  ['thread', 'tram:side', '--json'],
  ['config', 'get', 'tram', '--json'],
  ['pool', 'metrics', 'sea:other', '--json'],
  ['runs', '--json'],
  ['pool', 'search', 'sea:other', 'the', 'sea', '--like', '--json'],
  ['held', '--json'],
  ['held', steered, '--json'],
  ['held', steered, '--all', '--json'],
  ['branches', steered, '--json'],
  ['calls', steered, '--json'],
  ['calls', led, '--runs', '--json'],
  ['call', steered, 'agent-2', '--json'],
  ['call', led, 'led', '--json'],
];
let places: Places = { steered: '', led: '' };

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const whole = join(folder.path, 'whole');
const ask = async (home: string): Promise<{ readonly answers: string[]; readonly said: string }> => {
  holdHome(home);
  const runs: { line: string; code: number | null; stdout: string; stderr: string }[] = [];
  for (const line of questionsOf(places))
    runs.push({ line: line.join(' '), ...(await runStemma([...line, '--home', home])) });
  // The home that stays open tells it there.
  const { stdout: said } = await runStemma(['doctor', '--home', home]);
  await releaseHome();
  expect(runs.filter(({ code }) => code !== 0)).toEqual([]);
  return {
    answers: runs.map(({ line, stdout }) => `${line}\n${stdout}`),
    said,
  };
};

let right: readonly string[] = [];
beforeAll(async () => {
  await makeHome(whole, folder.path);
  const vectors = join(folder.path, 'vectors.jsonl');
  writeFileSync(vectors, `${JSON.stringify({ vector: [1, 2], text: 'The sea' })}\n`);
  for (const line of [
    ['annotate', 'tram', 'a note', '--at', '@c3'],
    ['label', 'tram', 'task=tram'],
    ['config', 'set', 'tram', 'observe=true'],
    ['thread', 'tram', '@c2'],
    ['rollback', 'checkout', '@c12', '--abandoned', 'left'],
    ['pool', 'init', 'sea', '--messages', SEEDS, '--sample-size', '3', '--seed', '7'],
    ['run', 'sea', '--rounds', '3'],
    ['pool', 'embed', 'sea', vectors, '--embedder', 'outside:mine'],
    ['fork', 'sea', '--name', 'other'],
    ['run', 'sea:other', '--rounds', '2'],
    ['run', 'sea', '--rounds', '2', '--request', '--command', 'run-1'],
    ['run', 'sea', '--rounds', '3', '--request', '--command', 'run-2'],
  ])
    expect(await runStemma([...line, '--home', whole])).toMatchObject({ code: 0 });
  expect(await runStemma(['config', 'set', 'tram', 'observe=false', '--home', whole])).toMatchObject({
    code: 0,
  });
  places = await addSteeredCalls(whole);
  right = (await ask(whole)).answers;
}, 240_000);

/** Those whose missing rows none of the questions shows. */
const UNASKED = new Set([
  'observations',
  'pool_ordinals',
  'pool_embedders',
  'call_prompts',
  'call_messages',
  'call_answers',
  'call_asked',
  'call_followed',
  'call_kept',
  'ids',
  'commands',
  'policies',
  'due',
  'run_branches',
  'run_histories',
  'recorded_runs',
  'reruns',
  'workspace_snapshots',
  'file_changes',
  'provider_calls',
  'provider_call_ids',
  'imports',
  'run_calls',
  'steered_histories',
  'steered_branches',
  'open_runs',
  'open_run_histories',
]);
/** Those that have no rows in this home: no conversations begin alike in it, and no provider keeps anything. */
const EMPTY = new Set([
  'call_followed',
  'call_kept',
  'recorded_runs',
  'reruns',
  'workspace_snapshots',
  'file_changes',
  'provider_calls',
  'provider_call_ids',
  'imports',
]);
const TABLES = [...MAIN_GROUP.models.flatMap(({ tables }) => tables), ...COUNTED_TABLES].map(
  ({ name }) => name,
);

describe('rows that are missing altogether', { tags: ['decision-0051'] }, () => {
  const listed = TABLES.filter((name) => !UNASKED.has(name));
  test.each(isLong ? listed : ['frame_summaries', 'waiting_histories'])(
    'in %s: every list is as it was, and it is said that rows were rebuilt',
    async (table) => {
      const home = join(folder.path, table);
      cpSync(whole, home, { recursive: true });
      // Every second one, or the only one, or all of a table of which few are asked for.
      const some = table === 'names' || table === 'size_heads' ? 0 : await removeRows(home, table, 2);
      expect(some || (await removeRows(home, table, 1))).toBeGreaterThan(0);
      const { answers, said } = await ask(home);
      expect(answers).toEqual(right);
      expect(said).toMatch(SAID);
    },
    60_000,
  );

  test('a command that was recorded is not recorded again, and an id that was given is not given again', async () => {
    const home = join(folder.path, 'decided');
    cpSync(whole, home, { recursive: true });
    const run = (...line: readonly string[]) => runStemma([...line, '--home', home]);
    const insert = (id: string, command: string) =>
      run('insert', 'tram', '--id', id, '--content', 'once', '--command', command, '--json');
    const first = await insert('given', 'one');
    expect(first).toMatchObject({ code: 0 });
    expect(await run('remove', 'tram', 'given')).toMatchObject({ code: 0 });
    const refused = await insert('given', 'another');
    expect(refused.code).toBe(3);
    await removeRows(home, 'commands', 1);
    const again = await insert('given', 'one');
    expect(again.stdout).toBe(first.stdout.replace('"repeated":false', '"repeated":true'));
    expect(again.stderr).toMatch(SAID);
    await removeRows(home, 'ids', 1);
    const other = await insert('given', 'another');
    expect(other.stderr).toMatch(SAID);
    expect(other.stderr).toContain(refused.stderr);
  }, 60_000);

  test.each(['steered_histories', 'steered_branches'].slice(0, sized(1, 2)))(
    'in %s: no call goes out unsteered because of it',
    async (table) => {
      const home = join(folder.path, `steered-${table}`);
      cpSync(whole, home, { recursive: true });
      const scopes = async () => {
        const opened = await openHome({ directory: home });
        try {
          return await opened.steering.scopes();
        } finally {
          await opened.close();
        }
      };
      const before = await scopes();
      // A call may name the history either way.
      expect(before.histories).toEqual([places.steered.split(':')[0], 'Find-hotels-in-Berlin-near-the']);
      expect(await removeRows(home, table, 1)).toBeGreaterThan(0);
      expect(await scopes()).toEqual(before);
    },
    60_000,
  );

  test.each([
    [
      'call_prompts',
      {
        id: 'walk-3',
        within: WALK,
        messages: [
          ...WALKED,
          { role: 'assistant', content: 'Then without the wall.' },
          { role: 'user', content: 'Where can we eat?' },
        ],
      },
    ],
    [
      'call_messages',
      {
        id: 'walk-3',
        within: WALK,
        messages: [{ role: 'user', content: 'Plan a day in the old town' }, ...WALKED.slice(1)],
      },
    ],
    [
      'run_calls',
      {
        id: 'agent-9',
        within: RUN,
        messages: [{ role: 'user', content: 'Please: Find hotels in Berlin near the station' }],
      },
    ],
  ])(
    'in %s: the next call comes to where it belongs, and it is said that rows were rebuilt',
    async (table, call) => {
      const placed = async (home: string, removes: boolean) => {
        cpSync(whole, home, { recursive: true });
        if (removes) expect(await removeRows(home, table, 1)).toBeGreaterThan(0);
        const { at, said } = await sendCall(home, call);
        const { stdout } = await runStemma(['call', places.led, 'led', '--json', '--home', home]);
        return { at, said, ledTo: (JSON.parse(stdout) as { ledTo: unknown }).ledTo };
      };
      const before = await placed(join(folder.path, `right-${table}`), false);
      const after = await placed(join(folder.path, `sent-${table}`), true);
      expect(after).toMatchObject({ at: before.at, ledTo: before.ledTo });
      expect([before.said, after.said]).toEqual(['', expect.stringMatching(SAID)]);
    },
    60_000,
  );

  const filled = TABLES.filter((name) => !EMPTY.has(name));
  test.each(filled.slice(0, sized(2, filled.length)))(
    'in %s: verify --rows finds them',
    async (table) => {
      const home = join(folder.path, `verified-${table}`);
      cpSync(whole, home, { recursive: true });
      expect(await removeRows(home, table, 1)).toBeGreaterThan(0);
      const { code, stdout } = await runStemma(['verify', '--rows', '--home', home]);
      expect(code, stdout).toBe(5);
      expect(stdout).toMatch(/are put aside, and rebuilt from the log/);
      expect(await runStemma(['replay', '--verify', '--home', home])).toMatchObject({ code: 0 });
    },
    60_000,
  );
});
