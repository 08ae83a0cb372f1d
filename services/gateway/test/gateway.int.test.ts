import { canonicalJson } from '@stemma/canonical';
import { historyId } from '@stemma/history';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAirline, START, type Airline } from './airline.ts';

const HISTORY = historyId('airline', 'start-airline');
const OTHER = historyId('other', 'start-other');

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

test('histories are listed newest first, with their state and the first words of the first user', async () => {
  const { total, histories } = await airline.client.histories({});
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
    { history: OTHER, name: 'other', state: 'open', preview: null, cycles: 0 },
    { history: HISTORY, name: 'airline', state: 'open', preview: 'I want to fly to Oslo', cycles: 3 },
  ]);
  expect(
    (await airline.client.histories({ skip: 1, limit: 1 })).histories.map(({ history }) => history),
  ).toEqual([HISTORY]);
  expect((await airline.client.history({ history: 'airline' })).branches).toEqual([
    { branch: HISTORY, branchId: 0, name: 'main', parent: null, at: null, calledBy: null, mayContinue: null },
  ]);
});

test('snapshots are listed newest first, in pages, with the added and removed nodes', async () => {
  const first = await airline.client.snapshots({ history: 'airline', limit: 2 });
  const second = await airline.client.snapshots({ history: 'airline', limit: 2, before: first.next ?? 0 });
  const brief = (page: typeof first) =>
    page.snapshots.map(({ label, added, removed: left, names }) => ({ label, added, left, names }));
  expect(brief(first)).toEqual([
    { label: '@c3', added: 2, left: 1, names: ['booked'] },
    { label: '@c2', added: 3, left: 0, names: [] },
  ]);
  expect(brief(second)).toEqual([{ label: '@c1', added: 8, left: 0, names: [] }]);
  expect([first.next, second.next, first.newest, first.oldest]).toEqual([2, null, 3, 1]);
  expect(first.working).toMatchObject({ label: '@s4', cycle: 3, committed: false });
});

test(
  'a tree marks new and changed nodes, and lists the removed nodes with the causes',
  { tags: ['context-tree§3:one-cause'] },
  async () => {
    const second = await airline.client.tree({ history: 'airline', at: '@c2' });
    expect(second.previous?.label).toBe('@c1');
    expect(second.nodes.filter((node) => node.new).map(({ id }) => id)).toEqual(['t2', 'answer', 'more']);
    expect(
      second.nodes
        .filter((node) => node.changed.length > 0)
        .map(({ id, changed, ttl }) => ({ id, changed, ttl })),
    ).toEqual([{ id: 'found', changed: ['ttl'], ttl: 0 }]);
    const third = await airline.client.tree({ history: 'airline', at: '@c3' });
    expect(third.removed).toEqual([
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
    const working = await airline.client.tree({ history: 'airline' });
    expect(working.position).toMatchObject({ label: '@s4', committed: false });
    expect(
      working.nodes.filter((node) => node.new).map(({ id, depth, region }) => ({ id, depth, region })),
    ).toEqual([{ id: 'thanks', depth: 0, region: '^ah' }]);
    const first = await airline.client.tree({ history: 'airline', at: '@c1' });
    expect([first.previous, first.nodes.every((node) => node.new)]).toEqual([null, true]);
  },
);

test('a tree is read in parts, in document order, each node once, with contents up to a limit', async () => {
  const all = (await airline.client.tree({ history: 'airline' })).nodes.map(({ index, id }) => ({
    index,
    id,
  }));
  const part = await airline.client.tree({ history: 'airline', skip: 1, limit: 2, tail: 2, excerpt: 3 });
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

test(
  'a node is given with every header, its exact time and its whole content',
  { tags: ['context-tree§2:nanoseconds', 'snapshots:frame-port'] },
  async () => {
    const node = await airline.client.node({ history: 'airline', node: 'found', at: '@c1' });
    expect(node).toMatchObject({
      shape: 'block',
      region: '^seq',
      parent: 't1',
      depth: 1,
      expires: 3,
      headers: {
        id: 'found',
        ttl: 1,
        created_at_ns: START + 2_000_000_000n,
        created_at_iso: '2026-01-05T09:00:02.000Z',
      },
      payload: { content: 'a document', data_url: 'https://example.org' },
    });
    expect((await airline.client.node({ history: 'airline', node: 't1', at: '@c1' })).children).toEqual([
      'ask',
      'found',
    ]);
  },
);

test('events are given in whole frames, with the cursor to continue from', async () => {
  const first = await airline.client.events({ history: 'airline', limit: 2 });
  expect(first.events.map(({ seq, index, event }) => `${seq}.${index} ${event.type}`)).toEqual([
    '0.0 HistoryStarted',
    '1.0 NodeInserted',
    '1.1 NodeInserted',
    '1.2 NodeInserted',
    '1.3 TurnSealed',
    '1.4 SnapshotCommitted',
  ]);
  expect(first.next).toBe(2);
  expect((await airline.client.events({ history: 'airline', from: 4 })).next).toBe(null);
});

test(
  'thread and export are the exact bytes: ASCII, canonical JSON',
  { tags: ['context-tree§4:provider-thread'] },
  async () => {
    const thread = await airline.client.thread({ history: 'airline', at: '@c1' });
    expect(thread).toBe(
      canonicalJson([
        { id: 'policy', role: 'system', kind: 'text', content: 'Be kind.' },
        { id: 'ask', role: 'user', kind: 'text', content: '  I want to fly\n to Oslo ' },
        { id: 'found', role: 'tool', kind: 'result', content: 'a document' },
      ]),
    );
    const response = await airline.app.request('/api/histories/airline/export?at=@c1');
    expect(response.headers.get('content-type')).toBe('application/json');
    const text = await response.text();
    expect(text).toMatch(/^\{"cycle":1,"root":\{"children":\[/);
    expect(text).toContain('"created_at_ns":1767603602000000000');
    expect(
      JSON.parse(await airline.client.thread({ history: 'airline', at: '@c1', provider: 'openai' })),
    ).toHaveLength(3);
  },
);

test('the other routes answer as the contract says', async () => {
  expect((await airline.client.select({ history: 'airline', selector: '#ask' })).ids).toEqual(['ask']);
  expect(await airline.client.diff({ history: 'airline', a: '@c1', b: '@c2' })).toMatchObject({
    added: ['t2', 'answer', 'more'],
    removed: [],
  });
  expect(await airline.client.verify({})).toEqual({ ok: true, histories: 2, damaged: [], defective: [] });
  expect(await airline.client.healthLive({})).toEqual({ status: 'ok' });
  expect(await airline.client.healthReady({})).toEqual({ status: 'ready' });
  expect(Object.keys(await airline.client.stats({})).length).toBeGreaterThan(0);
  expect(await (await airline.app.request('/openapi.json')).json()).toMatchObject({ openapi: '3.1.0' });
});
