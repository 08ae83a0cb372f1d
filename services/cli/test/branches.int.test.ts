import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(folder.path);
const home = ['--home', folder.path];
const json = (...args: string[]): Promise<unknown> => stemmaJson([...args, ...home]);
const run = (args: string[], env: Record<string, string> = {}): ReturnType<typeof runStemma> =>
  runStemma([...args, ...home], { env });

/** No git knows anybody here. */
const NOBODY = {
  STEMMA_ACTOR: '',
  GIT_DIR: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

beforeAll(async () => {
  await json('start', '--name', 'desk');
  for (const word of ['one', 'two', 'three']) {
    await json('insert', 'desk', '--id', word, '--role', 'user', '--content', word, '--recorder', 'agent');
    await json('commit', 'desk', '--recorder', 'agent');
  }
});

test(
  'an intervention requires an actor, which the command asks for or takes from git; a recorder is refused as an actor',
  { tags: ['pool:Interventions'] },
  async () => {
    const nobody = await run(['inject', 'desk', 'x'], NOBODY);
    expect([nobody.code, nobody.stderr]).toEqual([4, expect.stringContaining('E_ACTOR_REQUIRED')]);
    const git = {
      ...NOBODY,
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'user.name',
      GIT_CONFIG_VALUE_0: 'Ada',
      GIT_CONFIG_KEY_1: 'user.email',
      GIT_CONFIG_VALUE_1: 'ada@example.org',
    };
    expect((await run(['save', 'desk', 'by-git'], git)).code).toBe(0);
    expect(await json('list', 'desk')).toMatchObject([
      { id: 'by-git', actor: 'Ada <ada@example.org>', round_number: 3 },
    ]);
    const both = await run(['commit', 'desk', '--recorder', 'agent', '--actor', 'Ada']);
    expect([both.code, both.stderr]).toEqual([64, expect.stringContaining('E_USAGE')]);
  },
);

test(
  'fork, rollback, load, save and list act on the named positions; the drawing shows abandoned branches; no control character is printed',
  { tags: ['pool:Branches-and-snapshots'] },
  async () => {
    await json('save', 'desk', 'early', '@c1', '--description', 'before two');
    expect(await json('fork', 'desk', '@c2', '--name', 'other')).toMatchObject({
      how: 'fork',
      name: 'other',
      from: '@s4',
    });
    const back = await json(
      'rollback',
      'desk',
      '@c2',
      '--abandoned',
      'old',
      '--command',
      'r',
      '--notes',
      'too far',
    );
    expect(
      await json('rollback', 'desk', '@c2', '--abandoned', 'old', '--command', 'r', '--notes', 'too far'),
    ).toEqual({
      ...(back as object),
      repeated: true,
    });
    expect(await json('load', 'desk', 'early')).toMatchObject({
      how: 'rollback',
      from: '@s2',
      abandonedName: expect.stringMatching(/^main-\d+$/) as string,
    });
    expect(await json('load', 'desk', 'early')).toMatchObject({ unchanged: true });
    expect(await json('load', 'desk:other', '@name:by-git')).toMatchObject({ how: 'fork', from: '@s6' });
    await json('config', 'set', 'desk', 'active_pool_size=40', 'label=a text', 'max_blocks=9');
    expect(await json('config', 'get', 'desk')).toMatchObject({
      config: { active_pool_size: 40, label: 'a text', max_blocks: 9, keep_turns: 0, pins: [] },
    });
    const { stdout } = await run(['branches', 'desk']);
    expect(
      stdout
        .replace(/h[a-z2-7]{20}/g, 'H')
        .replace(/ \d{4}-\d\d-\d\d [\d:]+Z/g, '')
        .split('\n')
        .slice(0, -1),
    ).toEqual([
      'desk:0 old at @c3, @s8 (abandoned for :10)',
      '├─ @s2 saved early',
      '├─ @c2 fork desk:9 other at @c2, @s9',
      '├─ @c2 rollback desk:10 main-1 at @c2, @s10 (abandoned for :11)',
      '│  └─ @c1 rollback desk main at @c1, @s13',
      '├─ @s6 saved by-git',
      '└─ @c3 fork desk:12 at @c3, @s12',
    ]);
    expect((await run(['annotate', 'desk', 'bell \u0007'])).stderr).toContain('E_NOTES_INVALID');
    expect((await run(['inject', 'desk', 'x', '--actor', 'a'.repeat(10_240)])).stderr).toContain(
      'E_ACTOR_INVALID',
    );
    for (const command of ['fork', 'rollback', 'load'])
      expect((await run([command, 'desk', ''])).stderr).toContain('E_USAGE');
  },
);

test(
  'reads by a named actor are recorded if the history records observations, and change no position',
  { tags: ['pool:Observations'] },
  async () => {
    await json('config', 'set', 'desk', 'observe=true');
    const before = await json('show', 'desk', '@t0');
    await run(['thread', 'desk', '@c1', '--actor', 'Björn']);
    await run(['select', 'desk', '.cb'], NOBODY);
    const at = ((await json('show', 'desk', '@c1')) as { seq: number }).seq;
    await run(['select', 'desk', '@c1 .cb', '--actor', 'Björn']);
    const events = (await json('log', 'desk')) as {
      event: { type: string; what?: string; seq?: number };
      author: object;
    }[];
    const seen = events.filter(({ event }) => event.type === 'ObservationRecorded');
    expect(seen.map(({ author, event }) => [author, event.what])).toEqual([
      [{ actor: 'tester' }, '@t0'],
      [{ actor: 'Björn' }, 'thread'],
      [{ actor: 'tester' }, '@c1'],
      [{ actor: 'Björn' }, '@c1 .cb'],
    ]);
    expect(seen.slice(-2).map(({ event }) => event.seq)).toEqual([at, at]);
    expect(await json('show', 'desk', '@t0')).toEqual(before);
  },
);

test(
  'a branch of another history is refused, however its reference is written',
  { tags: ['context-tree§5:positions'] },
  async () => {
    await json('start', '--name', 'elsewhere');
    await json('fork', 'elsewhere', '@s0', '--name', 'abroad');
    const { history } = (await json('show', 'elsewhere')) as { history: string };
    for (const branch of ['elsewhere', history, 'elsewhere:abroad', `${history}:0`])
      for (const args of [
        ['interventions', 'desk', '--branch', branch],
        ['branches', 'desk', '--of', branch],
        ['thread', 'desk', `${branch}@s0`],
      ]) {
        const { code, stderr } = await run(args);
        expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining('E_BRANCH_NOT_FOUND')]);
      }
  },
);

test(
  'compare alone takes a branch of another history, however its reference is written',
  { tags: ['context-tree§5:positions'] },
  async () => {
    await json('start', '--name', 'far');
    await json('fork', 'far', '@s0', '--name', 'abroad');
    const { history } = (await json('show', 'far')) as { history: string };
    for (const branch of ['far', history, 'far:abroad', `${history}:0`])
      for (const args of [
        ['desk', '@t0', branch],
        ['desk', '@t0', `${branch}@s0`],
        ['desk@t0', `${branch}@s0`],
        ['desk', branch],
      ])
        expect([args, await json('compare', ...args)]).toMatchObject([
          args,
          { relation: 'apart', b: { position: { history } } },
        ]);
    const { stderr } = await run(['compare', 'desk', 'nobody:abroad']);
    expect(stderr).toContain('E_BRANCH_NOT_FOUND');
  },
);

test.each([
  ['compare', 'desk', 'nobody', '@t0'],
  ['compare', 'desk', '@t0', 'nobody@c1'],
  ['interventions', 'desk', '--branch', 'nobody'],
  ['branches', 'desk', '--of', 'nobody'],
])('%s %s %s %s: a branch that does not exist has a code of its own', async (...args) => {
  const { code, stderr } = await run(args);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(
      'no branch "nobody"; its branches are old, other, main-1, main (E_BRANCH_NOT_FOUND)',
    ),
  ]);
});

test('JSON that names a branch also holds its id', async () => {
  const branchesOf = (value: unknown): object[] =>
    typeof value !== 'object' || value === null
      ? []
      : [...('branch' in value ? [value] : []), ...Object.values(value).flatMap(branchesOf)];
  const answers = [
    ...['branches', 'list', 'cache', 'blame', 'stages', 'show', 'interventions', 'log'].map((each) =>
      run([each, 'desk', '--json']),
    ),
    ...[
      ['config', 'get', 'desk'],
      ['histories'],
      ['inject', 'desk', 'x', '--actor', 'Ada'],
      ['save', 'desk', '--actor', 'Ada'],
      ['compare', 'desk', '@c1', '@t0'],
    ].map((args) => run([...args, '--json'])),
  ];
  for (const { stdout } of await Promise.all(answers))
    for (const line of stdout.trim().split('\n'))
      for (const one of branchesOf(JSON.parse(line) as unknown)) expect(one).toHaveProperty('branchId');
});

test('help of an unknown command names it, and help of import lists every format', async () => {
  const { code, stderr } = await runStemma(['help', 'nonsense']);
  expect([code, stderr]).toEqual([64, expect.stringContaining('there is no command "nonsense"')]);
  const imports = await runStemma(['help', 'import']);
  expect([imports.code, imports.stdout]).toEqual([0, expect.stringContaining('ctree-jsonl')]);
});

test('a rollback names the branch that it abandons after its old name, and says where there is nothing to roll back', async () => {
  await json('start', '--name', 'twice');
  for (const word of ['one', 'two']) {
    await json('insert', 'twice', '--role', 'user', '--content', word, '--recorder', 'agent');
    await json('commit', 'twice', '--recorder', 'agent');
  }
  expect(await json('rollback', 'twice', 'c1', '--actor', 'Ada')).toMatchObject({ abandonedName: 'main-1' });
  expect(await json('snapshots', 'twice:main-1')).toHaveLength(2);
  expect(await json('rollback', 'twice', 'c1', '--actor', 'Ada')).toMatchObject({
    position: '@c1',
    unchanged: true,
  });
  await json('insert', 'twice', '--role', 'user', '--content', 'three', '--recorder', 'agent');
  expect(await json('rollback', 'twice', '1', '--actor', 'Ada')).toMatchObject({ abandonedName: 'main-2' });
  const { stdout } = await run(['branches', 'twice']);
  for (const name of ['main', 'main-1', 'main-2']) expect(stdout).toContain(name);
  // What is abandoned can be looked at by its name, in every command.
  for (const args of [
    ['show', 'twice', 'main-1@c2'],
    ['show', 'twice', 'main-1@2'],
    ['thread', 'twice', 'main-1@c2'],
  ])
    expect((await run(args)).code).toBe(0);
});

test('what every command would read as a position is no name, and a position is no history', async () => {
  await json('start', '--name', 'places');
  for (const args of [
    ['save', 'places', '@s0', 'c7'],
    ['fork', 'places', '--name', 's3'],
  ])
    expect((await run([...args, '--actor', 'Ada'])).stderr).toContain('E_NAME_INVALID');
  const { code, stderr } = await run(['thread', '@c3', 'places']);
  expect([code, stderr]).toEqual([64, expect.stringContaining('the history stands before it')]);
});

test('of a branch that went another way an error says what to name, a selector reads its positions, and its own interventions are listed', async () => {
  await json('start', '--name', 'ways');
  for (const word of ['ways-1', 'ways-2', 'ways-3']) {
    await json('insert', 'ways', '--id', word, '--role', 'user', '--content', word, '--recorder', 'agent');
    await json('commit', 'ways', '--recorder', 'agent');
  }
  const actor = ['--actor', 'Ada', '--notes', 'on'];
  await json('inject', 'ways', 'x', ...actor);
  await json('rollback', 'ways', '@c1', ...actor);
  const refused = await run(['rollback', 'ways', 'main-1@c2', ...actor]);
  expect([refused.code, refused.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining(
      '@c2 of the branch main-1 is not in the past of main: `stemma fork ways main-1@c2` starts a branch there',
    ),
  ]);
  expect(refused.code).not.toBe(0);
  expect(await json('rollback', 'ways', 'main-1@c1', ...actor)).toMatchObject({ unchanged: true });
  expect(await json('select', 'ways', 'main-1@c2 .cb')).toEqual(['ways-1', 'ways-2']);
  expect(await json('select', 'ways', 'main-1@3 #ways-3')).toEqual(['ways-3']);
  const types = async (name: string): Promise<readonly string[]> =>
    (await run(['interventions', name, '--format', 'csv'])).stdout
      .split('\n')
      .filter((line) => line.includes('Ada'))
      .map((line) => (line.includes('rollback') ? 'rollback' : 'inject'));
  expect(await types('ways:main-1')).toEqual(['inject']);
  expect(await types('ways:main')).toEqual(['rollback']);
  expect(await types('ways')).toEqual(['inject', 'rollback']);
  const forked = await run(['fork', 'ways', 'main-1@c2', ...actor]);
  expect(forked.stdout).toMatch(/ continues from @c2 \(@s4\)\n$/);
});

test(
  'a list of the interventions of all histories names the history of each',
  { tags: ['pool:Interventions'] },
  async () => {
    await json('start', '--name', 'second-desk');
    await json('inject', 'second-desk', 'hello', '--role', 'user', '--actor', 'Ada');
    await json('inject', 'desk', 'welcome', '--role', 'user', '--actor', 'Ada');
    for (const columns of [80, 200]) {
      const { stdout } = await runStemma(['interventions', ...home], { columns });
      expect(stdout).toMatch(/^HISTORY +FRAME /);
      expect(stdout).toMatch(/^second-desk .*hello$/m);
      expect(stdout).toMatch(/^desk .*welcome$/m);
    }
    expect((await runStemma(['interventions', 'desk', ...home])).stdout).toMatch(/^FRAME /);
  },
);

test('a role that no model takes is refused by every command that takes one', async () => {
  for (const args of [
    ['inject', 'desk', 'hello'],
    ['insert', 'desk', '--content', 'hello'],
  ]) {
    const { code, stderr } = await run([...args, '--role', 'robot', '--actor', 'Ada']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('"robot" (E_ROLE_UNKNOWN)')]);
  }
});

test('a command that is used wrongly shows its example', async () => {
  for (const [args, example] of [
    [['fork'], 'stemma fork mine @c5 --name what-if'],
    [['pool', 'init'], 'stemma pool init sea'],
    [['rollback', 'desk', ' '], 'stemma rollback mine @c5'],
  ] as const)
    expect((await run([...args])).stderr).toContain(`\n  Example: ${example}`);
  expect((await run(['nosuch'])).stderr).not.toContain('Example');
});
