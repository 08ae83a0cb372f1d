import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(folder.path);
const home = ['--home', folder.path];
const run = (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
  runStemma([...args, ...home]);
const json = (...args: string[]): Promise<unknown> => stemmaJson([...args, ...home]);

beforeAll(async () => {
  await json('start', '--name', 'desk');
  await json(
    'insert',
    'desk',
    '--parent',
    '^sys',
    '--id',
    'rules',
    '--role',
    'system',
    '--content',
    'Be brief.',
  );
  await json('insert', 'desk', '--id', 'q1', '--role', 'user', '--content', 'What is a stemma?');
  await json(
    'insert',
    'desk',
    '--id',
    'doc',
    '--offset',
    '-1',
    '--ttl',
    '1',
    '--kind',
    'note',
    '--content',
    'A tree of copies.',
  );
  await json('commit', 'desk');
  await json(
    'insert',
    'desk',
    '--id',
    'a1',
    '--role',
    'assistant',
    '--content',
    'A family tree of manuscripts.',
  );
  await json('insert', 'desk', '--id', 'q2', '--role', 'user', '--content', 'Thanks!');
  await json('commit', 'desk');
  await json('insert', 'desk', '--id', 'a2', '--role', 'assistant', '--content', 'Any time.');
});

const block = (id: string, role: string, content: string, kind = ''): object => ({ id, role, kind, content });

test(
  'the thread of a snapshot is the one at its commit, and the working state is the next one',
  { tags: ['context-tree§4:provider-thread', 'context-tree§5:positions', 'PACT-05§2.3'] },
  async () => {
    const first = [
      block('rules', 'system', 'Be brief.'),
      block('doc', 'user', 'A tree of copies.', 'note'),
      block('q1', 'user', 'What is a stemma?'),
    ];
    const second = [
      ...first,
      block('a1', 'assistant', 'A family tree of manuscripts.'),
      block('q2', 'user', 'Thanks!'),
    ];
    expect(JSON.parse((await run('thread', 'desk', '@c1')).stdout)).toEqual(first);
    expect(JSON.parse((await run('thread', 'desk', '@t-1')).stdout)).toEqual(first);
    expect(JSON.parse((await run('thread', 'desk', '@t0')).stdout)).toEqual(second);
    expect(JSON.parse((await run('thread', 'desk')).stdout)).toEqual([
      ...second,
      block('a2', 'assistant', 'Any time.'),
    ]);
  },
);

test(
  'the thread and the export are printed without a final line break, as exact bytes',
  { tags: ['PACT-05§2.2'] },
  async () => {
    expect((await run('thread', 'desk', '@c1')).stdout.endsWith(']')).toBe(true);
    const { stdout } = await run('export', 'desk', '@c1');
    expect(stdout.startsWith('{"cycle":1,"root":')).toBe(true);
    expect(stdout.endsWith('"spec_version":"PACT/0.1.0"}')).toBe(true);
  },
);

test('a diff has exactly its three keys', { tags: ['context-tree§7:shape', 'PACT-05§4.3'] }, async () => {
  expect(await json('diff', 'desk', '@c1', '@c2')).toEqual({
    added: expect.arrayContaining(['a1', 'q2']),
    removed: [],
    changed: [{ id: 'doc', fields: ['ttl'] }],
  });
});

test(
  'an export that is imported again is exported as the same bytes',
  { tags: ['PACT-05§3.2', 'context-tree§4:import', 'context-tree§4:tree-hash'] },
  async () => {
    const { stdout } = await run('export', 'desk', '@c2');
    using other = temporaryFolder();
    const at = ['--home', other.path];
    await import('node:fs/promises').then(({ writeFile }) => writeFile(`${other.path}/tree.json`, stdout));
    await stemmaJson(['import', `${other.path}/tree.json`, '--history', 'copy', ...at]);
    expect((await runStemma(['export', 'copy', '@c2', ...at])).stdout).toBe(stdout);
    const [original] = ((await json('snapshots', 'desk')) as { cycle: number; treeHash: string }[]).filter(
      ({ cycle }) => cycle === 2,
    );
    const [copied] = (await stemmaJson(['snapshots', 'copy', ...at])) as { treeHash: string }[];
    expect(copied?.treeHash).toBe(original?.treeHash);
  },
);

test('snapshots lists both hashes and the SHA-256 of the thread', { tags: ['snapshots'] }, async () => {
  const list = (await json('snapshots', 'desk')) as Record<string, unknown>[];
  expect(list.map(({ label, cycle }) => ({ label, cycle }))).toEqual([
    { label: '@c1', cycle: 1 },
    { label: '@c2', cycle: 2 },
  ]);
  const { createHash } = await import('node:crypto');
  const { stdout } = await run('thread', 'desk', '@c2');
  expect(list[1]?.['threadSha256']).toBe(createHash('sha256').update(stdout).digest('hex'));
  for (const { treeHash, threadHash } of list) {
    expect(treeHash).toMatch(/^[0-9a-f]{64}$/);
    expect(threadHash).toMatch(/^[0-9a-f]{64}$/);
  }
});

test(
  'a command sent twice with its id takes effect once; another command with that id is refused',
  { tags: ['record§3:commands-remembered'] },
  async () => {
    using other = temporaryFolder();
    const at = ['--home', other.path];
    await stemmaJson(['start', '--name', 'one', ...at]);
    const send = (content: string): Promise<{ code: number | null; stdout: string }> =>
      runStemma(['insert', 'one', '--command', 'c-1', '--content', content, '--json', ...at]);
    const first = JSON.parse((await send('hello')).stdout) as object;
    const second = JSON.parse((await send('hello')).stdout) as object;
    expect(second).toEqual({ ...first, repeated: true });
    const third = await send('other');
    expect(third.code).toBe(3);
    expect(JSON.parse(third.stdout)).toMatchObject({ error: { code: 'E_COMMAND_REUSED' } });
    const events = (await stemmaJson(['log', 'one', ...at])) as { event: { type: string } }[];
    expect(events.map(({ event }) => event.type)).toEqual([
      'HistoryStarted',
      'InterventionRecorded',
      'NodeInserted',
    ]);
  },
);

test(
  'an expected position that is no longer the newest is a conflict, exit 3',
  { tags: ['record§3'] },
  async () => {
    const { code, stdout } = await run('insert', 'desk', '--content', 'late', '--expect', '1', '--json');
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'E_CONFLICT' } });
  },
);

test('show lists every node, or gives all headers of one', async () => {
  expect(await json('show', 'desk', '#q1')).toMatchObject({
    id: 'q1',
    role: 'user',
    content: 'What is a stemma?',
    cycle: 1,
  });
  expect(await json('show', 'desk', '@c1', '#doc')).toMatchObject({ id: 'doc', ttl: 1, offset: -1 });
  const shown = (await json('show', 'desk', '@c1')) as { nodes: { id: string }[] };
  expect(shown.nodes.map(({ id }) => id)).toContain('q1');
});
