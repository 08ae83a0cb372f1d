import { createClient, type Client } from '@stemma/api';
import { beforeEach, describe, expect, test } from 'vitest';
import { createGateway } from '../src/index.ts';
import { fixtureHome, type FixtureHome } from './fixture-home.ts';

const text = (id: string, content: string, role = 'user'): { id: string; content: string; role: string } => ({
  id,
  content,
  role,
});

let home: FixtureHome;
let client: Client;
let app: ReturnType<typeof createGateway>;

beforeEach(() => {
  home = fixtureHome([
    {
      history: 'hfirst',
      name: 'airline',
      cycles: [
        [
          { id: 'policy', content: 'Be kind.', role: 'system', sys: true },
          text('ask', '  I want to fly\n to Oslo '),
          { id: 'found', content: 'a document', role: 'tool', kind: 'result', ttl: 1 },
        ],
        [text('answer', 'Gladly.', 'assistant'), text('more', 'On Monday.')],
        [text('done', 'Booked.', 'assistant')],
      ],
      open: [text('thanks', 'Thanks!')],
    },
    { history: 'hother', cycles: [], state: 'damaged' },
  ]);
  app = createGateway({ home });
  client = createClient(async (url, options) => app.request(url, options), '');
});

describe('questions', () => {
  test('histories come with state and the first words of the first user, the newest first', async () => {
    const { total, histories } = await client.histories({});
    expect(total).toBe(2);
    expect(
      histories.map(({ history, name, state, preview, cycles }) => ({
        history,
        name,
        state,
        preview,
        cycles,
      })),
    ).toEqual([
      { history: 'hother', name: null, state: 'damaged', preview: null, cycles: 0 },
      { history: 'hfirst', name: 'airline', state: 'open', preview: 'I want to fly to Oslo', cycles: 3 },
    ]);
    expect((await client.histories({ skip: 1, limit: 1 })).histories.map(({ history }) => history)).toEqual([
      'hfirst',
    ]);
    expect((await client.history({ history: 'airline' })).lineages).toEqual([
      { lineage: 'hfirst', strand: 0, name: 'main', parent: null, at: null },
    ]);
  });

  test('snapshots come newest first, page by page, with what came and what left', async () => {
    const first = await client.snapshots({ history: 'airline', limit: 2 });
    const second = await client.snapshots({ history: 'airline', limit: 2, before: first.next ?? 0 });
    const brief = (page: typeof first) =>
      page.snapshots.map(({ label, added, left, names }) => ({ label, added, left, names }));
    expect(brief(first)).toEqual([
      { label: '@c3', added: 2, left: 1, names: [] },
      { label: '@c2', added: 3, left: 0, names: ['second'] },
    ]);
    expect(brief(second)).toEqual([{ label: '@c1', added: 8, left: 0, names: [] }]);
    expect([first.next, second.next, first.newest, first.oldest]).toEqual([2, null, 3, 1]);
    expect(first.working).toMatchObject({ label: '@s4', cycle: 3, committed: false });
  });

  test('a tree marks what is new in it, what changed, and tells what left and why [context-tree §3]', async () => {
    const second = await client.tree({ history: 'airline', at: '@c2' });
    expect(second.previous?.label).toBe('@c1');
    expect(second.nodes.filter((node) => node.new).map(({ id }) => id)).toEqual(['t2', 'answer', 'more']);
    expect(
      second.nodes
        .filter((node) => node.changed.length > 0)
        .map(({ id, changed, ttl }) => ({ id, changed, ttl })),
    ).toEqual([{ id: 'found', changed: ['ttl'], ttl: 0 }]);
    const third = await client.tree({ history: 'airline', at: '@c3' });
    expect(third.left).toEqual([
      {
        id: 'found',
        nodeType: 'cb',
        role: 'tool',
        kind: 'result',
        cycle: 1,
        content: { text: 'a document', form: 'text', characters: 10, complete: true },
        cause: 'expired',
      },
    ]);
    const working = await client.tree({ history: 'airline' });
    expect(working.position).toMatchObject({ label: '@s4', committed: false });
    expect(
      working.nodes.filter((node) => node.new).map(({ id, depth, region }) => ({ id, depth, region })),
    ).toEqual([{ id: 'thanks', depth: 0, region: '^ah' }]);
    const first = await client.tree({ history: 'airline', at: '@c1' });
    expect([first.previous, first.nodes.every((node) => node.new)]).toEqual([null, true]);
  });

  test('a part of a tree is a slice and a tail in document order, each node once, with bounded contents', async () => {
    const all = (await client.tree({ history: 'airline' })).nodes.map(({ index, id }) => ({ index, id }));
    const part = await client.tree({ history: 'airline', skip: 1, limit: 2, tail: 2, excerpt: 3 });
    expect(part.nodes.map(({ index, id }) => ({ index, id }))).toEqual([
      all[1],
      all[2],
      all.at(-2),
      all.at(-1),
    ]);
    expect(part.nodes.find(({ id }) => id === 'policy')?.content).toEqual({
      text: 'Be ',
      form: 'text',
      characters: 8,
      complete: false,
    });
    expect(part.total).toBe(all.length);
  });

  test('a node comes with every header, its time exact, and its content whole [context-tree §2]', async () => {
    const node = await client.node({ history: 'airline', node: 'found', at: '@c1' });
    expect(node).toMatchObject({
      shape: 'block',
      region: '^seq',
      parent: 't1',
      depth: 1,
      expires: 3,
      headers: {
        id: 'found',
        ttl: 1,
        created_at_ns: 1_767_603_601_000_000_000n,
        created_at_iso: '2026-01-05T09:00:01.000Z',
      },
      payload: { content: 'a document' },
    });
    expect((await client.node({ history: 'airline', node: 't1', at: '@c1' })).children).toEqual([
      'ask',
      'found',
    ]);
  });

  test('events come in whole frames with where to go on', async () => {
    const first = await client.events({ history: 'airline', limit: 2 });
    expect(first.events.map(({ seq, index, event }) => `${seq}.${index} ${event.type}`)).toEqual([
      '0.0 HistoryStarted',
      '1.0 NodeInserted',
      '1.1 NodeInserted',
      '1.2 NodeInserted',
      '1.3 TurnSealed',
      '1.4 SnapshotCommitted',
    ]);
    expect(first.next).toBe(2);
    expect((await client.events({ history: 'airline', from: 4 })).next).toBe(null);
  });

  test('the rest answers as the contract says', async () => {
    expect((await client.select({ history: 'airline', selector: '#ask' })).ids).toEqual(['ask']);
    expect(await client.diff({ history: 'airline', a: '@c1', b: '@c2' })).toMatchObject({
      added: ['t2', 'answer', 'more'],
      removed: [],
    });
    expect(await client.verify({})).toEqual({ ok: false, histories: 2, damaged: ['hother'], defective: [] });
    expect(await client.healthz({})).toEqual({ status: 'ok' });
    expect(await client.readyz({})).toEqual({ status: 'ready' });
    expect(await client.stats({})).toEqual({ frames: 6 });
    expect(JSON.parse(await client.thread({ history: 'airline', at: '@c1' }))).toHaveLength(3);
    expect(await (await app.request('/openapi.json')).json()).toMatchObject({ openapi: '3.1.0' });
  });
});

describe('commands', () => {
  test('a command is durable when it is answered, and its position can be read', async () => {
    const answer = await client.command({
      history: 'airline',
      body: {
        id: 'one',
        recorder: 'agent',
        steps: [{ op: 'insert', parent: '^ah', node: { id: 'new', content: 'x' } }, { op: 'commit' }],
      },
    });
    expect(answer).toMatchObject({ repeated: false, position: { label: '@c4', seq: 5, committed: true } });
    expect(answer.events.map(({ type }) => type)).toEqual([
      'NodeInserted',
      'TurnSealed',
      'SnapshotCommitted',
    ]);
  });

  test.each([
    ['not JSON', '{"id":', 'E_INPUT_TRUNCATED', 400],
    ['nested without end', '['.repeat(100_000), 'E_INPUT_TOO_DEEP', 400],
    ['a forbidden key', '{"__proto__":1}', 'E_INPUT_FORBIDDEN_KEY', 400],
    ['no steps', '{"id":"a","recorder":"r","steps":[]}', 'E_COMMAND_INVALID', 400],
    [
      'a key nobody knows',
      '{"id":"a","recorder":"r","steps":[{"op":"commit","now":true}]}',
      'E_COMMAND_INVALID',
      400,
    ],
  ])('a body that is %s is refused with a code', async (_, body, code, status) => {
    const response = await app.request('/api/histories/airline/commands', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  test('a body that a form of another site could send is refused', async () => {
    const response = await app.request('/api/histories/airline/commands', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: '{}',
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'E_USAGE' } }]);
  });

  test('a body above 80 MiB is refused before it is read', async () => {
    const response = await app.request('/api/histories/airline/commands', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': String(80 * 1024 * 1024 + 1) },
      body: '{}',
    });
    expect([response.status, await response.json()]).toMatchObject([
      413,
      { error: { code: 'E_INPUT_TOO_LARGE' } },
    ]);
  });
});
