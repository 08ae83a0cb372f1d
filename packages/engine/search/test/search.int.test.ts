import { historyId, type Step } from '@stemma/history';
import { sized } from '@stemma/test-kit';
import { type Home, openHome } from '@stemma/test-kit/home';
import fc from 'fast-check';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'stemma-search-'));
  closers.push(() => {
    rmSync(made, { recursive: true, force: true });
  });
  return join(made, 'home');
};

const open = async (directory: string): Promise<Home> => {
  const home = await openHome({ directory, create: true });
  closers.push(() => home.close());
  return home;
};

let count = 0;
const send = async (
  home: Home,
  name: string,
  steps: readonly Step[],
  author: object = { recorder: 'test' },
) =>
  home.submit({
    id: `command ${count++}`,
    history: historyId(name, ''),
    branchId: 0,
    by: author as never,
    steps: [...steps],
  });

const block = (id: string, content: unknown, role = 'user'): Step =>
  ({ op: 'insert', parent: '^ah', node: { id, nodeType: 'cb', role, content } }) as never;

const start = (home: Home, name: string, more: object = {}): Promise<unknown> =>
  send(home, name, [{ op: 'start', name, ...more } as never]);

const find = async (home: Home, text: string, query: object = {}) => {
  const { hits } = await home.queries.search.find({ text, ...query });
  return hits.map(
    ({ name, node, kind, label, call }) => `${name ?? ''} ${node ?? kind} ${label} ${call ?? '-'}`,
  );
};

test('a text is found at any time of any history, with the call that could show it first', async () => {
  const home = await open(folder());
  await start(home, 'talk');
  await send(home, 'talk', [block('a', 'My parcel is lost')]);
  expect(await find(home, 'parcel')).toEqual(['talk a @s1 -']);
  await send(home, 'talk', [{ op: 'replace', id: 'a', set: { content: 'My letter is lost' } } as never]);
  await send(home, 'talk', [{ op: 'commit' }]);
  expect(await find(home, 'parcel')).toEqual(['talk a @s1 @c1']);
  expect(await find(home, 'letter')).toEqual(['talk a @s2 @c1']);
  await start(home, 'other');
  await send(home, 'other', [block('b', { type: 'text', text: 'a LOST parçel' }), { op: 'commit' }]);
  expect((await find(home, 'parcel lost')).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    'other b @c1 @c1',
    'talk a @s1 @c1',
  ]);
  expect(await find(home, 'parcel -my')).toEqual(['other b @c1 @c1']);
  expect(await find(home, '"is lost" let*')).toEqual(['talk a @s2 @c1']);
});

test('what an importer notes of the form of a message is not found, its other fields are', async () => {
  const home = await open(folder());
  await start(home, 'talk');
  await send(home, 'talk', [
    {
      op: 'insert',
      parent: '^ah',
      node: {
        ...{ id: 'a', nodeType: 'cb', role: 'user', content: 'A short text' },
        data_message: { ordinal: 24, content: 'whole', fields: { refusal: 'No way' } },
      },
    } as never,
  ]);
  expect(await find(home, 'whole')).toEqual([]);
  expect(await find(home, '24')).toEqual([]);
  expect(await find(home, '"no way"')).toEqual(['talk a @s1 -']);
  const { hits } = await home.queries.search.find({ text: 'short' });
  expect(hits.map(({ excerpt }) => excerpt.text)).toEqual(['A short text No way']);
});

test('names, notes, ids and who intervened and why are found, and filters leave out the rest', async () => {
  const home = await open(folder());
  await start(home, 'desk');
  await send(home, 'desk', [block('block-7', 'refund'), { op: 'commit' }]);
  await send(home, 'desk', [block('b8', 'refund', 'system'), { op: 'commit' }], {
    actor: 'ada',
    notes: 'the refund was missing',
  });
  expect(await find(home, 'desk')).toEqual(['desk name @s0 @c1']);
  expect(await find(home, 'block-7')).toEqual(['desk block-7 @c1 @c1']);
  expect(await find(home, 'refund', { role: 'system' })).toEqual(['desk b8 @c2 @c2']);
  expect(await find(home, 'refund', { kind: 'intervention' })).toEqual([]);
  const { hits } = await home.queries.search.find({ text: 'refund', until: 0 });
  expect(hits).toEqual([]);
});

test('within a branch what leads to it is found, and what its siblings say is not', async () => {
  const home = await open(folder());
  await start(home, 'talk');
  await send(home, 'talk', [block('shared', 'shared word'), { op: 'commit' }]);
  const at = { branchId: 0, seq: 1 };
  await send(home, 'talk', [{ op: 'fork', at, name: 'left' } as never], { actor: 'ada' });
  await send(home, 'talk', [block('main', 'word of main')]);
  const left = await home.find('talk:left');
  await home.submit({
    id: 'left',
    history: left.history,
    branchId: left.branchId,
    by: { recorder: 'test' },
    steps: [block('own', 'word of left')],
  });
  expect(
    (await find(home, 'word', { within: { name: 'talk:left', branchRef: left } })).map(
      (line) => line.split(' ')[1],
    ),
  ).toEqual(expect.arrayContaining(['shared', 'own']));
  expect(await find(home, 'word', { within: { name: 'talk:left', branchRef: left } })).toHaveLength(2);
  expect(await find(home, 'word', { within: { name: 'talk', branchRef: left } })).toHaveLength(3);
});

test('what a rollback left behind is found where it stands, and said to be abandoned; what was before it is not', async () => {
  const home = await open(folder());
  await start(home, 'talk');
  await send(home, 'talk', [block('kept', 'ferry kept'), { op: 'commit' }]);
  await send(home, 'talk', [block('left', 'ferry left'), { op: 'commit' }]);
  const back = { op: 'rollback', to: { branchId: 0, seq: 1 } };
  await send(home, 'talk', [back as never], { actor: 'ada', notes: 'wrong way' });
  const now = await home.find('talk');
  await home.submit({
    id: 'goes on',
    history: now.history,
    branchId: now.branchId,
    by: { recorder: 'test' },
    steps: [block('new', 'ferry new'), { op: 'commit' }],
  });
  const { hits } = await home.queries.search.find({ text: 'ferry', kind: 'content' });
  const shown = await Promise.all(
    hits.map(async ({ node, branch, call, abandoned }) => {
      const { ids } = await home.read.select(await home.find(branch), `#${node ?? ''}`);
      return { node, at: branch.replace(now.history, 'talk'), call, abandoned, there: ids.length };
    }),
  );
  expect(shown.toSorted((a, b) => (String(a.node) < String(b.node) ? -1 : 1))).toEqual([
    { node: 'kept', at: 'talk:0', call: '@c1', abandoned: false, there: 1 },
    { node: 'left', at: 'talk:0', call: '@c2', abandoned: true, there: 1 },
    { node: 'new', at: 'talk', call: '@c2', abandoned: false, there: 1 },
  ]);
});

test('an erased history is found no more, and the index holds nothing of it', async () => {
  const directory = folder();
  const home = await open(directory);
  const other = await open(directory);
  await start(home, 'secret', { erasable: { subject: null } });
  await send(home, 'secret', [block('a', 'xylophone'), { op: 'commit' }]);
  await start(home, 'plain');
  await send(home, 'plain', [block('b', 'xylophone too'), { op: 'commit' }]);
  expect(await find(home, 'xylophone')).toHaveLength(2);
  expect(await find(other, 'xylophone')).toHaveLength(2);
  await send(home, 'secret', [{ op: 'erase' } as never], { actor: 'officer', notes: 'asked to' });
  expect(existsSync(join(directory, 'search'))).toBe(false);
  expect(await find(other, 'xylophone')).toEqual(['plain b @c1 @c1']);
  expect(await find(home, 'xylophone')).toEqual(['plain b @c1 @c1']);
});

test('an erasure by one process keeps no other from search, streams and lists, whatever it has read of the history', async () => {
  const directory = folder();
  const home = await open(directory);
  const other = await open(directory);
  const said = (name: string, more: object): Promise<unknown> =>
    send(home, name, [
      { op: 'start', name, ...more } as never,
      block('a', `xylophone ${name}`),
      { op: 'commit' },
    ]);
  await said('secret', { erasable: { subject: null } });
  await said('plain', {});
  const secret = await home.find('secret');
  for (const each of [home, other]) {
    expect(await find(each, 'xylophone')).toHaveLength(2);
    await each.read.events(secret.history);
    await each.read.view(await each.position(secret));
  }
  await send(home, 'secret', [{ op: 'erase' } as never], { actor: 'officer', notes: 'asked to' });
  for (const each of [other, home]) {
    const closing = new AbortController();
    const histories: string[] = [];
    for await (const { events } of each.follow({ signal: closing.signal, after: await beginning(each) })) {
      histories.push(...events.map(({ history }) => history));
      if (histories.length > 0) closing.abort();
    }
    expect([...new Set(histories)]).toEqual([historyId('plain', '')]);
    // What it had is answered as what nobody ever said.
    for (const word of ['secret', 'nobody']) expect(await find(each, word)).toEqual([]);
    expect(await find(each, 'xylophone')).toEqual(['plain a @c1 @c1']);
    expect((await each.read.histories()).map(({ name }) => name)).toEqual(['plain']);
    await expect(
      each.read.withPayloads(secret.history, (source) => source({ seq: 0, index: 1 })),
    ).rejects.toMatchObject({
      code: 'E_HISTORY_ERASED',
    });
  }
});

/** The cursor before the first record of the log. */
const beginning = async (home: Home): Promise<string> => {
  const closing = new AbortController();
  for await (const { cursor } of home.follow({ signal: closing.signal })) {
    closing.abort();
    return cursor.replaceAll(/(?<=[:,])\d+/g, '0');
  }
  throw new Error('the stream gave no cursor');
};

test('an index that is damaged, of another version, cut off or gone is made anew', async () => {
  const directory = folder();
  const file = join(directory, 'search', 'index.sqlite');
  const fill = await open(directory);
  await start(fill, 'talk');
  for (let n = 0; n < sized(20, 100); n++) await send(fill, 'talk', [block(`b${n}`, `word number ${n}`)]);
  const before = await fill.queries.search.find({ text: 'word', limit: 100 });
  await fill.close();
  closers.pop();
  const whole = readFileSync(file);
  const damages: (() => void)[] = [
    () => writeFileSync(file, Buffer.alloc(whole.length)),
    () => writeFileSync(file, whole.subarray(0, whole.length / 2)),
    () => writeFileSync(file, 'no index'),
    () => writeFileSync(file, ''),
    () => rmSync(join(directory, 'search'), { recursive: true }),
    () =>
      writeFileSync(file, Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, 0xff)])),
  ];
  for (const damage of damages) {
    damage();
    const home = await openHome({ directory });
    expect(await home.queries.search.find({ text: 'word', limit: 100 })).toEqual(before);
    await home.close();
  }
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('after a frame of the log was damaged, what is left is found, and nothing of what is lost', async () => {
  const directory = folder();
  const fill = await open(directory);
  await start(fill, 'first');
  await send(fill, 'first', [block('a', 'the ferry leaves')]);
  await start(fill, 'second');
  await send(fill, 'second', [block('b', 'the ferry is late')]);
  expect(await find(fill, 'ferry')).toHaveLength(2);
  await fill.close();
  closers.pop();
  const segment = join(directory, 'log', '0', '0000000000000000.seg');
  const bytes = readFileSync(segment);
  bytes[bytes.indexOf('the ferry leaves')] = 0;
  writeFileSync(segment, bytes);
  rmSync(join(directory, 'rows'), { recursive: true });
  const home = await open(directory);
  expect(await find(home, 'ferry')).toEqual(['second b @s1 -']);
});

test('two homes on one directory index side by side, and each text is found once', async () => {
  const directory = folder();
  const homes = [await open(directory), await open(directory)] as const;
  await start(homes[0], 'talk');
  for (let round = 0; round < sized(4, 12); round++) {
    await send(round % 2 === 0 ? homes[0] : homes[1], 'talk', [block(`b${round}`, `word ${round}`)]);
    const answers = await Promise.all(
      [...homes, ...homes].map((home) => home.queries.search.find({ text: 'word', limit: 100 })),
    );
    for (const { total } of answers) expect(total).toBe(round + 1);
  }
});

test('no query, however hostile, does anything but find or be refused', async () => {
  const home = await open(folder());
  await start(home, 'talk');
  await send(home, 'talk', [block('a', 'NEAR AND OR NOT "quoted" text: a* b^2 {c} (d)')]);
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(
        fc.constantFrom(
          '"',
          '*',
          '-',
          ' ',
          'NEAR(',
          ')',
          'AND',
          'OR',
          'NOT',
          'text:',
          '^',
          '{',
          '}',
          "'",
          ';',
          'a',
        ),
      )
      .map((parts) => parts.join('')),
  );
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      const outcome = await home.queries.search.find({ text }).then(
        () => 'found',
        (error: unknown) => (error as { code?: string }).code,
      );
      expect(['found', 'E_SEARCH_INVALID']).toContain(outcome);
    }),
    { numRuns: sized(100, 500) },
  );
  expect(await find(home, 'NEAR AND OR NOT')).toEqual(['talk a @s1 -']);
});
