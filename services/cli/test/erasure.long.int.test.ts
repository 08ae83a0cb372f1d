import { openHome } from '@stemma/home';
import { filesHolding } from '@stemma/test-kit';
import { cpSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStemma, temporaryFolder } from './run-stemma.ts';

/** What of the erasable histories must be nowhere afterwards. */
const PLANTED = [
  'planted-content',
  'planted-tool',
  'planted-argument',
  'planted-large',
  'planted-note',
  'planted-save',
  'planted-branch',
  'planted-config',
  'planted-attribute',
  'planted-selector',
  'planted-reason',
  'Planted Actor',
  'Planted Subject',
  'planted-history',
];

const conversation = (word: string): object[] => [
  { role: 'system', content: `${word}-content: be brief` },
  {
    role: 'user',
    content: [
      { type: 'text', text: `${word}-content` },
      { type: 'text', text: 'more' },
    ],
  },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: 'call',
        type: 'function',
        function: { name: `${word}-tool`, arguments: `{"a":"${word}-argument"}` },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'call', content: `${word}-large `.repeat(50_000) },
  { role: 'assistant', content: `${word}-content again` },
];

const opened = () => {
  const folder = temporaryFolder();
  const home = join(folder.path, 'home');
  const run = async (...args: string[]) => runStemma([...args, '--home', home]);
  const must = async (...args: string[]) => {
    const done = await run(...args);
    if (done.code !== 0) throw new Error(`${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
  };
  return { folder, home, run, must, [Symbol.dispose]: () => folder[Symbol.dispose]() };
};

type Opened = ReturnType<typeof opened>;

let filled: Opened;
beforeAll(async () => {
  filled = opened();
  await fillOnce(filled);
}, 60_000);
afterAll(() => filled[Symbol.dispose]());

/** Two erasable histories about one subject, and one that stays. */
const fill = async ({ home }: Opened): Promise<void> => cpSync(filled.home, home, { recursive: true });

const fillOnce = async ({ folder, must }: Opened): Promise<void> => {
  const file = join(folder.path, 'planted.json');
  const other = join(folder.path, 'other.json');
  writeFileSync(file, JSON.stringify(conversation('planted')));
  writeFileSync(other, JSON.stringify(conversation('other')));
  const erasable = ['--erasable', '--subject', 'Planted Subject'];
  const actor = ['--actor', 'Planted Actor', '--notes', 'planted-reason'];
  await must('import', file, '--history', 'planted-history', ...erasable);
  await must('import', other, '--history', 'other');
  await must('start', '--name', 'planted-history-2', ...erasable);
  await must('insert', 'planted-history', '--content', 'planted-content', ...actor);
  await must('annotate', 'planted-history', 'planted-note', ...actor);
  await must('save', 'planted-history', 'planted-save', '--description', 'planted-note', ...actor);
  await must('fork', 'planted-history', '@c1', '--name', 'planted-branch', ...actor);
  await must('config', 'set', 'planted-history', 'observe=true', 'mode="planted-config"', ...actor);
  await must('select', 'planted-history', ".cb[kind='planted-selector']", '--actor', 'Planted Actor');
  await must('stages', 'planted-history');
  await must('insert', 'other', '--content', 'stays', '--actor', 'ada', '--notes', 'a note');
};

const ANSWERS = [
  ['log', 'other', '--json'],
  ['thread', 'other', '--provider', 'openai'],
  ['export', 'other'],
  ['snapshots', 'other', '--json'],
  ['interventions', 'other', '--json'],
  ['branches', 'other', '--json'],
  ['stages', 'other'],
  ['blame', 'other', '--json'],
] as const;

const answersOf = async ({ must }: Opened): Promise<string[]> => {
  const answers: string[] = [];
  for (const args of ANSWERS) answers.push(await must(...args));
  return answers;
};

test('an erasable history is stored unencrypted only in rows, and after its erasure nowhere', async () => {
  using place = opened();
  const { home, run, must } = place;
  await fill(place);
  expect(await must('thread', 'planted-history', '--provider', 'openai')).toContain('planted-content');
  expect(await must('verify')).toContain('no problems');
  // The log and the contents never had it.
  for (const part of ['log', 'contents']) expect(filesHolding(join(home, part), PLANTED)).toEqual([]);
  expect(filesHolding(join(home, 'rows'), PLANTED)).not.toEqual([]);
  const before = await answersOf(place);

  const erasing = ['erase', 'planted-history', '--actor', 'officer', '--notes', 'asked by letter'];
  expect(await run(...erasing)).toMatchObject({ code: 64 });
  expect(await run('erase', 'other', '--yes', '--actor', 'officer')).toMatchObject({ code: 1 });
  expect(await must(...erasing, '--yes')).toContain('is erased');
  expect(await must('erase', '--subject', 'Planted Subject', '--yes', '--actor', 'officer')).toMatch(
    /is erased\n$/,
  );

  expect(filesHolding(home, PLANTED)).toEqual([]);
  expect(readdirSync(join(home, 'keys', 'histories')).filter((name) => name.endsWith('.key'))).toEqual([]);
  expect(await answersOf(place)).toEqual(before);
  for (const args of [
    ['thread', 'planted-history'],
    ['export', 'planted-history'],
    ['diff', 'planted-history', '@c1', '@c1'],
    ['log', 'planted-history'],
    ['insert', 'planted-history', '--content', 'x', '--actor', 'ada'],
    ['erase', 'planted-history', '--yes', '--actor', 'officer'],
    ['start', '--name', 'planted-history'],
  ]) {
    const { code, stderr } = await run(...args);
    expect([args[0], code, /E_HISTORY_ERASED/.test(stderr)]).toEqual([args[0], 1, true]);
    expect(stderr).toMatch(/was erased on \d{4}-\d\d-\d\d by officer: asked by letter/);
  }
  expect((await run('histories')).stderr).toMatch(/^erased: h\w+, h\w+\n$/);
  expect(await must('verify')).toContain('no problems');
  expect(await must('replay', '--verify')).toContain('0 differences');
  expect(await must('doctor')).not.toContain('damaged');
  const copy = join(place.folder.path, 'copy');
  await must('copy', '--from', home, '--to', copy);
  expect(filesHolding(copy, PLANTED)).toEqual([]);
  expect(await answersOf(place)).toEqual(before);
});

test('other processes that have the rows open serve nothing of an erased history, and the file of its rows is removed', async () => {
  using place = opened();
  await fill(place);
  const [one, two] = [await openHome({ directory: place.home }), await openHome({ directory: place.home })];
  for (const home of [one, two])
    expect((await home.read.snapshots(await home.find('planted-history'))).length).toBe(2);
  const { history } = await one.find('planted-history');
  const by = { actor: 'officer' };
  await one.submit({ id: 'e', history, branchId: 0, by, steps: [{ op: 'erase' }] });
  for (const home of [two, one]) {
    await expect(home.find('planted-history')).rejects.toMatchObject({ code: 'E_HISTORY_ERASED' });
    await expect(home.find(history)).rejects.toMatchObject({ code: 'E_HISTORY_ERASED' });
    expect((await home.read.snapshots(await home.find('other'))).length).toBe(2);
    const steps = [{ op: 'annotate' as const, note: 'x' }];
    await expect(home.submit({ id: 'c', history, branchId: 0, by, steps })).rejects.toMatchObject({
      code: 'E_HISTORY_ERASED',
    });
  }
  await two.submit({
    id: 'c',
    history: (await two.find('other')).history,
    branchId: 0,
    by,
    steps: [{ op: 'annotate', note: 'goes on' }],
  });
  await two.close();
  await one.close();
  expect(
    filesHolding(
      place.home,
      PLANTED.filter((text) => text !== 'Planted Subject' && text !== 'planted-history'),
    ),
  ).toEqual([]);
});

test('an erasure that stopped after its frame and before its key was deleted is finished by the next reader', async () => {
  using place = opened();
  await fill(place);
  const before = join(place.folder.path, 'before');
  cpSync(place.home, before, { recursive: true });
  await place.must('erase', 'planted-history', '--yes', '--actor', 'officer');
  // The log has the frame; the key and the rows are as they were.
  rmSync(join(before, 'log'), { recursive: true });
  cpSync(join(place.home, 'log'), join(before, 'log'), { recursive: true });
  expect(await runStemma(['thread', 'planted-history', '--home', before])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('E_HISTORY_ERASED') as string,
  });
  expect(await runStemma(['thread', 'other', '--home', before])).toMatchObject({ code: 0 });
  expect(filesHolding(before, ['planted-content', 'planted-note', 'planted-branch'])).toEqual([]);
});

test('a history without its key is not served, while others are, and is served again when the key is back', async () => {
  using place = opened();
  await fill(place);
  const keys = join(place.home, 'keys');
  const away = join(place.folder.path, 'away');
  const thread = await place.must('thread', 'planted-history');
  renameSync(keys, away);
  rmSync(join(place.home, 'rows'), { recursive: true });
  expect(await place.run('thread', 'planted-history')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('E_HISTORY_SEALED') as string,
  });
  const verified = await place.run('verify');
  expect(verified).toMatchObject({ code: 0 });
  expect(verified.stdout).toMatch(/^2 histories are sealed .*\n.* no problems\n$/);
  expect(await place.run('insert', 'planted-history', '--content', 'x', '--actor', 'a')).toMatchObject({
    code: 5,
  });
  expect(await place.run('thread', 'other')).toMatchObject({ code: 0 });
  renameSync(away, keys);
  expect(await place.must('verify')).toMatch(/^[^\n]* no problems\n$/);
  expect(await place.must('thread', 'planted-history')).toBe(thread);
});

test('a command to an erasable history whose key is missing writes nothing unencrypted, even if its rows exist', async () => {
  using place = opened();
  await fill(place);
  renameSync(join(place.home, 'keys'), join(place.folder.path, 'away'));
  expect(
    await place.run('insert', 'planted-history', '--content', 'in the clear', '--actor', 'a'),
  ).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('E_HISTORY_SEALED') as string,
  });
  expect(filesHolding(place.home, ['in the clear'])).toEqual([]);
});

test('starting an existing history again does not make it erasable: it continues unencrypted', async () => {
  using place = opened();
  await fill(place);
  expect(await place.run('start', '--name', 'other', '--erasable')).toMatchObject({ code: 3 });
  await place.must('insert', 'other', '--content', 'goes on', '--actor', 'a');
  expect(filesHolding(join(place.home, 'log'), ['goes on'])).not.toEqual([]);
  expect(await place.run('erase', 'other', '--yes', '--actor', 'a')).toMatchObject({
    stderr: expect.stringContaining('E_NOT_ERASABLE') as string,
  });
});

test('a backup holds erasable histories encrypted and without their keys; a restored home with the keys has every content', async () => {
  using place = opened();
  const { folder, home, must } = place;
  await fill(place);
  await must('insert', 'planted-history', '--content', 'y'.repeat(100_000), '--actor', 'ada');
  await must('insert', 'planted-history', '--content', 'z'.repeat(100_000), '--actor', 'ada');
  const thread = await must('export', 'planted-history');
  await must('erase', 'planted-history-2', '--yes', '--actor', 'officer');
  const target = join(folder.path, 'backup');
  expect(await must('backup', target)).not.toContain('damaged');
  expect(filesHolding(target, PLANTED)).toEqual([]);
  const restored = join(folder.path, 'restored');
  expect((await runStemma(['restore', target, '--to', restored])).code).toBe(0);
  expect(await runStemma(['thread', 'planted-history', '--home', restored])).toMatchObject({ code: 5 });
  const erased = await runStemma(['thread', 'planted-history-2', '--home', restored]);
  expect(erased.stderr).toMatch(/was erased on \d{4}-\d\d-\d\d by officer/);
  const report = await runStemma(['doctor', '--home', restored]);
  expect(report.stdout).toContain('a history is sealed');
  expect(report.stdout).not.toContain('damaged');
  cpSync(join(home, 'keys'), join(restored, 'keys'), { recursive: true });
  expect((await runStemma(['replay', '--home', restored])).code).toBe(0);
  expect((await runStemma(['export', 'planted-history', '--home', restored])).stdout).toBe(thread);
  expect((await runStemma(['verify', '--home', restored])).stdout).toContain('no problems');
});

test('the salvaged copy of an erasable history is encrypted too, and is erased with its subject', async () => {
  using place = opened();
  await fill(place);
  const { home, must } = place;
  const contents = join(home, 'contents');
  const files = (): string[] => readdirSync(contents, { recursive: true, encoding: 'utf8' });
  const before = new Set(files());
  await must('insert', 'planted-history', '--content', 'y'.repeat(200_000), '--actor', 'ada');
  for (const file of files())
    if (!before.has(file)) rmSync(join(contents, file), { recursive: true, force: true });
  rmSync(join(home, 'rows'), { recursive: true });
  const { history } = JSON.parse(await must('salvage', 'planted-history', '--json')) as { history: string };
  expect(await must('export', history)).toContain('planted-content');
  for (const part of ['log', 'contents']) expect(filesHolding(join(home, part), PLANTED)).toEqual([]);
  await must('erase', history, '--yes', '--actor', 'officer');
  expect((await place.run('export', history)).stderr).toContain('E_HISTORY_ERASED');
});

test('a file that has the name of an erasable history is not imported beside it in the clear', async () => {
  using place = opened();
  const { folder, home, run, must } = place;
  const file = join(folder.path, 'planted.json');
  writeFileSync(file, JSON.stringify(conversation('planted')));
  await must('import', file, '--erasable');
  // It has grown since.
  writeFileSync(file, JSON.stringify([...conversation('planted'), { role: 'user', content: 'more' }]));
  for (const options of [[], ['--history', '{file}'], ['--history', 'planted']]) {
    const { code, stderr } = await run('import', file, ...options);
    expect([code, /E_\w+/.exec(stderr)?.[0]]).toEqual([3, 'E_HISTORY_EXISTS']);
  }
  expect((await run('import', file)).stderr).toContain('is erasable: import with --erasable');
  expect(JSON.parse(await must('histories', '--json'))).toMatchObject([{ name: 'planted' }]);
  expect(filesHolding(join(home, 'log'), PLANTED)).toEqual([]);
}, 60_000);

test('an erasable branch that is exported as an experiment is erasable where it runs again', async () => {
  using place = opened();
  const { folder, home, must } = place;
  await fill(place);
  const file = join(folder.path, 'experiment.json');
  await must('experiment', 'export', 'planted-history:main', '-o', file);
  await must('experiment', 'run', file, '--name', 'again', '--actor', 'ada');
  expect(await must('thread', 'again', '--provider', 'openai')).toContain('planted-content');
  expect(filesHolding(join(home, 'log'), PLANTED)).toEqual([]);
  rmSync(file);
  await must('erase', '--subject', 'Planted Subject', '--yes', '--actor', 'officer');
  expect(filesHolding(home, PLANTED)).toEqual([]);
}, 60_000);

test('erase names the other histories about the same subject that it leaves', async () => {
  using place = opened();
  await fill(place);
  const { stderr } = await place.run('erase', 'planted-history', '--yes', '--actor', 'officer');
  expect(stderr).toContain(
    `1 more erasable history is about "Planted Subject": stemma erase --subject 'Planted Subject'\n`,
  );
}, 60_000);
