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

test(
  'a removed and an added block of equal content are described as a possible move',
  { tags: ['PACT-05§4.5', 'PACT-05§6.11', 'context-tree§7:explain'] },
  async () => {
    const { moves } = await json<Explained>('diff', 'desk', '@c2', '@c3', '--explain');
    expect(moves).toEqual([
      { from: 'doc', to: 'again', contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    ]);
  },
);

test('why prints how a node was inserted and removed', { tags: ['context-tree§3:one-cause'] }, async () => {
  const { stdout } = await run('why', 'desk', '#doc');
  expect(stdout).toContain('#doc is not in the tree at');
  expect(stdout).toContain('inserted under ah, ttl 1');
  expect(stdout).toContain('expired: its ttl ran out');
});

test(
  'a node that never existed, or not on this branch, is a coded error',
  { tags: ['context-tree§8'] },
  async () => {
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
  },
);

test(
  'explain shows what a rollback abandoned as undone, and an intervention with its actor and notes',
  { tags: ['context-tree§3:one-cause', 'context-tree§5:rollback'] },
  async () => {
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
  },
);
