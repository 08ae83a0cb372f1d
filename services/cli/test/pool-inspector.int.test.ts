import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

/** The success criteria of the pool inspector, each by its own words. */
const folder = temporaryFolder();
const home = join(folder.path, 'home');
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(home);
const seeds = join(import.meta.dirname, '../../../samples/seeds.txt');

/** The answer of a command, given by an observer. */
const json = async <T = Readonly<Record<string, unknown>>>(...args: readonly string[]): Promise<T> =>
  (await stemmaJson([...args, '--home', home])) as T;
const act = (...args: readonly string[]) =>
  json(...args, '--actor', 'ada', '--notes', `why: ${args.join(' ')}`);

type Message = { readonly id: string; readonly text: string; readonly source: string };
type Act = {
  readonly id: string;
  readonly actor: string;
  readonly timestamp: string;
  readonly intervention_type: string;
  readonly notes: string;
  readonly snapshot_before: string | null;
  readonly snapshot_after: string;
};
const messagesOf = async (...args: readonly string[]): Promise<readonly Message[]> =>
  json('pool', 'messages', ...args);
const textsOf = async (...args: readonly string[]): Promise<readonly string[]> =>
  (await messagesOf(...args)).map(({ text }) => text);
/** What a command prints that answers with one JSON value a line. */
const linesOf = async <T>(...args: readonly string[]): Promise<readonly T[]> => {
  const { code, stdout } = await runStemma([...args, '--json', '--home', home]);
  expect(code).toBe(0);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
};
const interventions = (...args: readonly string[]): Promise<readonly Act[]> =>
  linesOf('interventions', 'sea', ...args);

beforeAll(async () => {
  await act('pool', 'init', 'sea', '--messages', seeds, '--sample-size', '3', '--seed', '7');
  await act('run', 'sea', '--rounds', '5');
  await act('save', 'sea', 'pre-fork-reversibility-test', '--description', 'decision point');
}, 60_000);

describe('Minimum viable', () => {
  test(
    'Can save current pool state with one command',
    { tags: ['pool:Branches-and-snapshots'] },
    async () => {
      const before = await textsOf('sea');
      await act('save', 'sea', 'one-command');
      const saved = await json<readonly { readonly id: string; readonly round_number: number }[]>(
        'list',
        'sea',
      );
      expect(saved.map(({ id }) => id)).toContain('one-command');
      expect(await textsOf('sea', '@name:one-command')).toEqual(before);
    },
  );

  test('Can load any saved state and continue from there', { tags: ['pool'] }, async () => {
    await act('fork', 'sea', '--name', 'loaded');
    const saved = await textsOf('sea', '@name:pre-fork-reversibility-test');
    await act('run', 'sea:loaded', '--rounds', '2');
    await act('load', 'sea:loaded', 'pre-fork-reversibility-test');
    expect(await textsOf('sea:loaded')).toEqual(saved);
    await act('run', 'sea:loaded', '--rounds', '2');
    const after = await textsOf('sea:loaded');
    expect(after.slice(0, saved.length)).toEqual(saved);
    expect(after.length).toBeGreaterThan(saved.length);
  });

  test('All interventions logged with timestamps', { tags: ['pool:Interventions'] }, async () => {
    await act('fork', 'sea', '--name', 'logged');
    await act('inject', 'sea:logged', 'Is this reversible?');
    await act('config', 'set', 'sea:logged', 'sample_size=2');
    await act('ask', 'sea:logged', 'What do you keep?', '--mind', 'offline');
    await act('run', 'sea:logged', '--rounds', '1');
    await act('rollback', 'sea:logged', '@c5');
    const found = await interventions();
    for (const type of [
      'message_inject',
      'config_change',
      'fork',
      'rollback',
      'run',
      'external_query',
      'save',
    ])
      expect(found.map(({ intervention_type }) => intervention_type)).toContain(type);
    for (const { timestamp, actor, notes } of found) {
      expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(actor).toBe('ada');
      expect(notes).toMatch(/^why: /);
    }
  });

  test('Can see what changed between two snapshots', { tags: ['pool:Branches-and-snapshots'] }, async () => {
    await act('fork', 'sea', '--name', 'changed');
    await act('inject', 'sea:changed', 'What if the sea forgets?');
    await act('run', 'sea:changed', '--rounds', '1');
    const injected = (await messagesOf('sea:changed')).find(
      ({ text }) => text === 'What if the sea forgets?',
    );
    const { added } = await json<{ readonly added: readonly string[] }>('diff', 'sea:changed', '@c5', '@c6');
    expect(added).toContain(injected?.id);
  });
});

describe('Useful', () => {
  test('Fork and run parallel experiments', { tags: ['pool:Runner'] }, async () => {
    const names = ['left', 'middle', 'right'];
    for (const [i, name] of names.entries()) {
      await act('fork', 'sea', '--name', name);
      await act('config', 'set', `sea:${name}`, `seed=${10 + i}`);
      await act('run', `sea:${name}`, '--rounds', '3', '--request');
    }
    expect(await json('runner', '--once')).toMatchObject({ rounds: 9, ended: 3 });
    const texts = await Promise.all(names.map((name) => textsOf(`sea:${name}`)));
    expect(new Set(texts.map((each) => JSON.stringify(each))).size).toBe(3);
    for (const each of texts) expect(each).toHaveLength(texts[0]?.length ?? 0);
  });

  test('Compare divergence across branches', { tags: ['pool:Metrics-and-analysis'] }, async () => {
    for (const [name, seed] of [
      ['a1', 21],
      ['b1', 22],
    ] as const) {
      await act('fork', 'sea', '--name', name);
      await act('config', 'set', `sea:${name}`, `seed=${seed}`);
      await act('run', `sea:${name}`, '--rounds', '8');
    }
    const compared = await json('pool', 'compare', 'sea', 'a1', 'b1', '--permutations', '99');
    expect(JSON.stringify(compared)).toMatch(/energy/);
    const beside = await json('compare', 'sea', 'a1', 'b1');
    expect(JSON.stringify(beside)).toContain('@s');
  });

  test(
    'Full audit trail of observer behavior',
    { tags: ['pool:Observations', 'pool:Interventions'] },
    async () => {
      await act('config', 'set', 'sea', 'observe=true');
      await json('thread', 'sea', '@c3', '--actor', 'ada');
      await act('config', 'set', 'sea', 'observe=false');
      const events = JSON.stringify(await linesOf('log', 'sea'));
      expect(events).toContain('ObservationRecorded');
      const found = await interventions('--actor', 'ada');
      expect(found.length).toBe((await interventions()).length);
      for (const { snapshot_after: after } of found) expect(after).toMatch(/^@s\d+$/);
    },
  );
});

describe("Answers the pool's question", () => {
  test('Can run the fork experiment it proposed', { tags: ['pool:Runner'] }, async () => {
    await act('fork', 'sea', '--name', 'continues');
    await act('fork', 'sea', '--name', 'undone');
    await act('run', 'sea:continues', '--rounds', '4', '--checkpoint-every', '2');
    await act('run', 'sea:undone', '--rounds', '4', '--checkpoint-every', '2');
    await act('rollback', 'sea:undone', '@c5');
    await act('run', 'sea:undone', '--rounds', '4');
    const question = 'What changed in your reasoning?';
    for (const name of ['continues', 'undone'])
      expect(await act('ask', `sea:${name}`, question, '--mind', 'offline')).toMatchObject({
        mind: 'offline',
      });
    const types = (await interventions()).map(({ intervention_type }) => intervention_type);
    expect(types.filter((type) => type === 'external_query').length).toBeGreaterThanOrEqual(2);
    expect(types).toContain('rollback');
  });

  test(
    'Can measure whether rollback changes decisions or just narration',
    { tags: ['long', 'pool§7.19', 'pool§7.21'] },
    async () => {
      const names = ['d1', 'd2', 'd3', 'd4', 'e1', 'e2', 'e3', 'e4'];
      for (const [i, name] of names.entries()) {
        await act('fork', 'sea', '--name', name);
        await act('config', 'set', `sea:${name}`, `seed=${30 + i}`);
        await act('run', `sea:${name}`, '--rounds', '3');
        if (name.startsWith('e')) await act('rollback', `sea:${name}`, '@c6');
        await act('run', `sea:${name}`, '--rounds', '3');
      }
      const verdict = await json(
        'verdict',
        'sea',
        'd1',
        'e1',
        '--runs',
        'd2',
        'd3',
        'd4',
        '--runs-b',
        'e2',
        'e3',
        'e4',
        '--permutations',
        '199',
      );
      expect(JSON.stringify(verdict)).toMatch(
        /decisions differ|only the telling differs|both|neither|cannot tell/,
      );
    },
  );

  test('Observer is now traceable to themselves', { tags: ['pool:Interventions'] }, async () => {
    await json('inject', 'sea:left', 'I was here.', '--actor', 'bob', '--notes', 'to be seen');
    const [mine] = await interventions('--actor', 'bob');
    expect(mine).toMatchObject({ actor: 'bob', notes: 'to be seen', intervention_type: 'message_inject' });
    const [message] = (await messagesOf('sea:left')).filter(({ text }) => text === 'I was here.');
    const why = JSON.stringify(await json('why', 'sea:left', message?.id ?? ''));
    expect(why).toContain('bob');
    expect(why).toContain('to be seen');
  });
});
