import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
const directory = join(folder.path, 'home');
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(directory);
const home = ['--home', directory];
/** The sentence of the error that a command ends with. */
const refusal = async (...args: readonly string[]): Promise<string> => {
  const { code, stderr } = await runStemma([...args, ...home], { env: { STEMMA_ACTOR: 'ada' } });
  expect(code).not.toBe(0);
  return /^stemma: .*$/m.exec(stderr)?.[0] ?? stderr;
};

beforeAll(async () => {
  writeFileSync(
    join(folder.path, 'shop.json'),
    JSON.stringify([
      { role: 'user', content: 'Where is my parcel?' },
      { role: 'assistant', content: 'It left on Monday.' },
      { role: 'user', content: 'And my refund?' },
      { role: 'assistant', content: 'Tomorrow.' },
    ]),
  );
  await stemmaJson(['import', join(folder.path, 'shop.json'), ...home]);
  await stemmaJson(['fork', 'shop', '@c1', '--name', 'what-if', '--actor', 'ada', ...home]);
  await stemmaJson(['save', 'shop', 'before-refund', '@c1', '--actor', 'ada', ...home]);
  await stemmaJson(['pool', 'init', 'board', '--actor', 'ada', ...home]);
});

test.each([
  [
    'a branch of a similar name',
    ['thread', 'shop:wat-if'],
    'the history shop has no branch "wat-if"; did you mean shop:what-if?',
  ],
  [
    'all branches, if none is similar',
    ['log', 'shop:xyzzy'],
    'the history shop has no branch "xyzzy"; its branches are main, what-if',
  ],
  [
    'a position that stands at the history',
    ['thread', 'shop@c1'],
    'there is no history "shop@c1"; did you mean shop @c1?',
  ],
  [
    'a position that stands at the branch',
    ['thread', 'shop:what-if@c1'],
    'the history shop has no branch "what-if@c1"; did you mean shop:what-if @c1?',
  ],
  [
    'the branch of another history',
    ['thread', 'what-if'],
    'there is no history "what-if"; did you mean shop:what-if?',
  ],
  [
    'the branches of a pool',
    ['pool', 'compare', 'board', 'main', 'nope'],
    'the history board has no branch "nope"; its branches are main',
  ],
  [
    'a saved position of a similar name',
    ['load', 'shop', 'before-refnd'],
    'no position of shop has the name before-refnd; did you mean before-refund?',
  ],
  [
    'the newest snapshot',
    ['open', 'shop', '@c7'],
    'the branch main of shop has no snapshot @c7; the newest is @c2',
  ],
  [
    'a node of a similar id',
    ['why', 'shop', 'm22'],
    'the history shop never had a node "m22"; did you mean #m2 (user: And my refund?)?',
  ],
  [
    'a node whose words were typed',
    ['why', 'shop', 'parcel'],
    'the history shop never had a node "parcel"; did you mean #m0 (user: Where is my parcel?)?',
  ],
  [
    'the last node, if none is similar',
    ['show', 'shop', 'xyzzy'],
    'there is no node "xyzzy" at @s5; the last one here is #m3 (assistant: Tomorrow.)',
  ],
])('what is not there is answered with what may be meant: %s', async (_, args, sentence) => {
  expect(await refusal(...args)).toMatch(new RegExp(`^stemma: ${escaped(sentence)} \\(E_[A-Z_]+\\)$`));
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

test('an error calls a history by its name, also where the log knows only its id', async () => {
  const file = join(folder.path, 'other.json');
  writeFileSync(file, JSON.stringify([{ role: 'user', content: 'Another one.' }]));
  expect(await refusal('import', file, '--history', 'shop')).toBe(
    'stemma: the history shop already exists (E_HISTORY_EXISTS)',
  );
});

test('a position may be written short where a name may stand; the name is looked for first', async () => {
  expect(await stemmaJson(['save', 'shop', 'early', 'c1', '--actor', 'ada', ...home])).toMatchObject({
    events: expect.arrayContaining(['PositionNamed']) as unknown,
  });
  expect(await stemmaJson(['list', 'shop', ...home])).toMatchObject([
    { id: 'before-refund', round_number: 1 },
    { id: 'early', round_number: 1 },
  ]);
  expect(await stemmaJson(['load', 'shop', 'c1', '--actor', 'ada', ...home])).toMatchObject({
    from: '@s0',
    how: 'rollback',
  });
});

test.each([
  ['sample_size=0', 'sample_size must be a whole number from 1 to 10000 (E_CONFIG_INVALID)'],
  ['seed=later', 'seed must be a whole number from 0 to 4294967295 (E_CONFIG_INVALID)'],
  ['minds=[]', 'minds must be a list of 1 to 100 minds, such as ["offline"] (E_CONFIG_INVALID)'],
  ['minds=["opnai:x"]', '"opnai:x" names no mind'],
  ['prompt=3', 'prompt must be a text of at most 100000 characters (E_CONFIG_INVALID)'],
])(
  'a setting that a pool cannot run with is refused when it is given: %s',
  { tags: ['pool:Runner'] },
  async (setting, why) => {
    const before = await stemmaJson(['config', 'get', 'board', ...home]);
    expect(await refusal('config', 'set', 'board', setting)).toContain(why);
    expect(await stemmaJson(['config', 'get', 'board', ...home])).toEqual(before);
  },
);

test("the settings of what is no pool are anybody's", async () => {
  expect(
    await stemmaJson(['config', 'set', 'shop:what-if', 'seed=later', '--actor', 'ada', ...home]),
  ).toMatchObject({
    events: ['InterventionRecorded', 'ConfigurationChanged'],
  });
});

test('a search for nothing is refused', async () => {
  expect(await refusal('pool', 'search', 'board', '')).toContain('the words are empty');
});

test('a file that is called like an option is named with ./ or behind --', async () => {
  const cwd = process.cwd();
  process.chdir(folder.path);
  try {
    writeFileSync('-x.json', JSON.stringify([{ role: 'user', content: 'Hi.' }]));
    expect(await refusal('import', '-x.json')).toBe(
      "stemma: unknown option '-x.json'; for the file of that name write ./-x.json, or put -- in front of it (E_USAGE)",
    );
    expect(await refusal('import', '-y.json')).toBe("stemma: unknown option '-y.json' (E_USAGE)");
    expect(await stemmaJson(['import', ...home, './-x.json'])).toMatchObject({ imported: [{ name: 'x' }] });
  } finally {
    process.chdir(cwd);
  }
});
