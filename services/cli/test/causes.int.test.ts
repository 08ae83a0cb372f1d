import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(folder.path);
const home = ['--home', folder.path];
const run = (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
  runStemma([...args, ...home]);
const json = async <T = unknown>(...args: string[]): Promise<T> =>
  (await stemmaJson([...args, ...home])) as T;

const BY = ['--recorder', 'agent'];
const insert = (id: string, content: string, ...more: string[]): Promise<unknown> =>
  json('insert', 'desk', '--id', id, '--content', content, ...BY, ...more);

beforeAll(async () => {
  await json('start', '--name', 'desk');
  await insert('rules', 'Be brief.', '--parent', '^sys', '--role', 'system');
  await insert('q1', 'What is a stemma?');
  await insert('doc', 'A tree of copies.', '--offset', '-1', '--ttl', '1');
  await json('commit', 'desk', ...BY);
  await insert('draft', 'A family tree.', '--role', 'assistant');
  await json('replace', 'desk', 'draft', '--content', 'A family tree of manuscripts.', ...BY);
  await json('commit', 'desk', ...BY);
  await insert('q2', 'Thanks!');
  await insert('again', 'A tree of copies.', '--offset', '-1');
  await json('commit', 'desk', ...BY);
});

type Entry = {
  readonly id: string;
  readonly change: string;
  readonly fields: readonly string[];
  readonly causes: readonly {
    readonly cause: { readonly kind: string; readonly op?: string };
    readonly event: string;
    readonly fields: readonly string[];
    readonly undone: boolean;
  }[];
  readonly bytes: { readonly a: Range | null; readonly b: Range | null };
};
type Range = { readonly from: number; readonly to: number };
type Explained = { readonly entries: readonly Entry[]; readonly moves: readonly object[] };

const causesOf = ({ entries }: Explained): Record<string, string[]> =>
  Object.fromEntries(
    entries.map(({ id, causes }) => [
      id,
      causes.map(({ cause, fields, undone }) =>
        [undone ? 'undone' : '', cause.op ?? cause.kind, ...fields].filter((word) => word !== '').join(' '),
      ),
    ]),
  );

test('an explained diff has a cause for every entry, and the plain one keeps its three keys [context-tree §7: explain, §3: one cause] [PACT 05 §4.3] [PACT 06 §6]', async () => {
  expect(Object.keys(await json<object>('diff', 'desk', '@c1', '@c2'))).toEqual([
    'added',
    'removed',
    'changed',
  ]);
  const explained = await json<Explained>('diff', 'desk', '@c1', '@c2', '--explain');
  expect(causesOf(explained)).toEqual({ 't:0:2': ['sealing'], draft: ['insert'], doc: ['ageing ttl'] });
  expect(causesOf(await json<Explained>('diff', 'desk', '@c2', '@c3', '--explain'))).toEqual({
    't:0:3': ['sealing'],
    q2: ['insert'],
    again: ['insert'],
    doc: ['expiry'],
  });
});

test('the byte range of a diff entry is the range of its message in each thread [PACT 06 §4.4] [context-tree §7: explain]', async () => {
  const { entries } = await json<Explained>('diff', 'desk', '@c2', '@c3', '--explain');
  const [older, newer] = [
    (await run('thread', 'desk', '@c2')).stdout,
    (await run('thread', 'desk', '@c3')).stdout,
  ];
  const cut = (text: string, range: Range | null): { id?: string } | null =>
    range === null ? null : (JSON.parse(text.slice(range.from, range.to)) as { id?: string });
  for (const { id, change, bytes } of entries.filter((entry) => !entry.id.startsWith('t:'))) {
    expect(cut(older, bytes.a)?.id).toBe(change === 'added' ? undefined : id);
    expect(cut(newer, bytes.b)?.id).toBe(change === 'removed' ? undefined : id);
  }
  // What holds blocks is there from the first to the last of them.
  const turn = entries.find(({ id }) => id === 't:0:3')?.bytes.b ?? { from: 0, to: 0 };
  const inTurn = JSON.parse(`[${newer.slice(turn.from, turn.to)}]`) as { id: string }[];
  expect(inTurn.map(({ id }) => id)).toEqual(['again', 'q2']);
});

test('a removed and an added block of equal content are described as a possible move [PACT 05 §4.5] [PACT 05 §6.11] [context-tree §7: explain]', async () => {
  const { moves } = await json<Explained>('diff', 'desk', '@c2', '@c3', '--explain');
  expect(moves).toEqual([
    { from: 'doc', to: 'again', contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
  ]);
});

test('over several frames the causes are in order, separately for every field [context-tree §3: one cause]', async () => {
  const explained = await json<Explained>('diff', 'desk', '@s5', '@c3', '--explain');
  const draft = explained.entries.find(({ id }) => id === 'draft');
  expect(draft?.fields).toEqual(['content_hash', 'parent']);
  expect(causesOf(explained)['draft']).toEqual(['replace content_hash', 'sealing parent']);
});

test('why lists how a node was inserted, changed and removed, with actor and time [context-tree §3: one cause]', async () => {
  type Moment = {
    cause: object;
    cycle: number;
    until: number | null;
    author: object;
    command: string;
    event: string;
  };
  type Life = {
    added: Moment;
    changes: Moment[];
    removed: Moment | null;
    present: boolean;
    snapshots: object;
  };
  const life = await json<Life>('why', 'desk', '#doc');
  expect(life).toMatchObject({
    node: 'doc',
    present: false,
    snapshots: { first: 1, last: 2 },
    added: { cause: { kind: 'mutation', op: 'insert', by: null }, event: 'NodeInserted', cycle: 1, ttl: 1 },
    changes: [
      { cause: { kind: 'sealing', turn: 't:0:1' }, cycle: 1 },
      { cause: { kind: 'ageing' }, cycle: 2, until: 2, ttl: 0 },
    ],
    removed: { cause: { kind: 'expiry' }, event: 'NodeExpired', cycle: 3 },
  });
  expect(life.added.author).toEqual({ recorder: 'agent' });
  const earlier = await json<Life>('why', 'desk', 'doc', '@c1');
  expect(earlier).toMatchObject({ present: true, removed: null, snapshots: { first: 1, last: 1 } });
  const { stdout } = await run('why', 'desk', '#doc');
  expect(stdout).toContain('#doc is not in the tree at');
  expect(stdout).toContain('inserted under ah, ttl 1');
  expect(stdout).toContain('expired: its ttl ran out');
});

test('a node that never existed, or not on this branch, is a coded error [context-tree §8]', async () => {
  for (const args of [
    ['why', 'desk', '#nobody'],
    ['log', 'desk', '--node', 'nobody'],
    ['why', 'desk', '#again', '@c1'],
  ]) {
    const { code, stdout } = await run(...args, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'E_NODE_NOT_FOUND' } });
  }
  expect((await run('why', 'desk', '#')).code).toBe(64);
});

test('log --node lists the events of that node and of no other', async () => {
  type Logged = { seq: number; event: { type: string } };
  const about = await json<Logged[]>('log', 'desk', '--node', '#doc');
  expect(about.map(({ event }) => event.type)).toEqual(['NodeInserted', 'NodeExpired']);
  const drafts = await json<Logged[]>('log', 'desk', '--node', 'draft');
  expect(drafts.map(({ event }) => event.type)).toEqual(['NodeInserted', 'NodeReplaced']);
  const later = await json<Logged[]>('log', 'desk', '--node', 'draft', '--from', String(drafts[1]?.seq ?? 0));
  expect(later).toEqual(drafts.slice(1));
});

test('explain shows what a rollback abandoned as undone, and an intervention with its actor and notes [context-tree §3: one cause, §5: rollback]', async () => {
  const act = ['--actor', 'observer', '--notes', 'Does it hold?'];
  await json('start', '--name', 'left');
  const insertLeft = (id: string): Promise<unknown> =>
    json('insert', 'left', '--id', id, '--content', id, '--recorder', 'agent');
  await insertLeft('kept');
  await json('commit', 'left', '--recorder', 'agent');
  await json('inject', 'left', 'Think again.', '--node', 'hint', '--ttl', '3', ...act);
  await json('commit', 'left', '--recorder', 'agent');
  await json('rollback', 'left', '@c1', '--abandoned', 'first', ...act);
  await insertLeft('instead');
  await json('commit', 'left', '--recorder', 'agent');

  const explained = await json<Explained & { mergeBase: object }>(
    'diff',
    'left',
    'first@c2',
    '@c2',
    '--explain',
  );
  expect(explained.mergeBase).toMatchObject({ branchId: 0, cycle: 1 });
  const { hint, instead } = causesOf(explained);
  expect([hint, instead]).toEqual([['undone insert'], ['insert']]);

  const { added } = await json<{ added: object }>('why', 'left:first', '#hint');
  expect(added).toMatchObject({ author: { actor: 'observer' }, notes: 'Does it hold?' });
  expect((await run('why', 'left:first', '#hint')).stdout).toContain('│ Does it hold?');
  expect((await run('why', 'left', '#hint')).code).toBe(1);
  const about = await json<{ event: { type: string } }[]>('log', 'left', '--node', 'hint');
  expect(about.map(({ event }) => event.type)).toEqual(['NodeInserted']);
});
