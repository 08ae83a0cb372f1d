import { COUNTED_TABLES } from '@stemma/history-store';
import { openHome } from '@stemma/home';
import { GROUPS } from '@stemma/projector';
import { sized } from '@stemma/test-kit';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeHome } from './matrix/whole-home.ts';
import { removeRows } from './remove-rows.ts';
import { holdHome, releaseHome, runStemma, temporaryFolder } from './run-stemma.ts';
import { addSteeredCalls } from './steered-home.ts';

const SAID = /the rows were damaged \(.*\); they are put aside, and rebuilt from the log/;
/** Every list that comes from a read model, and what is looked for by name or id. */
const questionsOf = (steered: string): readonly (readonly string[])[] => [
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
  ['held', '--json'],
  ['held', steered, '--json'],
  ['held', steered, '--all', '--json'],
  ['branches', steered, '--json'],
  ['calls', steered, '--json'],
  ['call', steered, 'agent-2', '--json'],
];
let steered = '';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const whole = join(folder.path, 'whole');
const ask = async (home: string): Promise<{ readonly answers: string[]; readonly said: string }> => {
  holdHome(home);
  const runs: { line: string; code: number | null; stdout: string; stderr: string }[] = [];
  for (const line of questionsOf(steered))
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
  for (const line of [
    ['annotate', 'tram', 'a note', '--at', '@c3'],
    ['config', 'set', 'tram', 'observe=true'],
    ['thread', 'tram', '@c2'],
    ['rollback', 'checkout', '@c12', '--abandoned', 'left'],
  ])
    expect(await runStemma([...line, '--home', whole])).toMatchObject({ code: 0 });
  expect(await runStemma(['config', 'set', 'tram', 'observe=false', '--home', whole])).toMatchObject({
    code: 0,
  });
  steered = await addSteeredCalls(whole);
  right = (await ask(whole)).answers;
}, 60_000);

/** Those whose missing rows none of the questions shows. */
const UNASKED = new Set([
  'observations',
  'call_prompts',
  'call_messages',
  'ids',
  'commands',
  'policies',
  'due',
  'commits',
  'run_branches',
  'run_calls',
  'call_led_to',
  'steered_histories',
  'steered_branches',
]);
const TABLES = [...GROUPS.flatMap(({ model }) => model.tables), ...COUNTED_TABLES].map(({ name }) => name);

describe('rows that are missing altogether [decision 0051]', () => {
  const listed = TABLES.filter((name) => !UNASKED.has(name));
  test.each(process.env['CI'] ? listed : ['frame_summaries', 'waiting_histories'])(
    'in %s: every list is as it was, and it is said that rows were rebuilt',
    async (table) => {
      const home = join(folder.path, table);
      cpSync(whole, home, { recursive: true });
      // Every second one, or the only one, or those that somebody asks for.
      const some = table === 'names' ? 0 : await removeRows(home, table, 2);
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
      expect(before.histories).toEqual([steered.split(':')[0]]);
      expect(await removeRows(home, table, 1)).toBeGreaterThan(0);
      expect(await scopes()).toEqual(before);
    },
    60_000,
  );

  test.each(TABLES.slice(0, sized(2, TABLES.length)))(
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
