import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

const history = 'airline';

test('a diff has exactly three keys, and with explain=1 the causes and the bytes of each entry [context-tree §7: shape, §7: explain] [PACT 06 §4.4]', async () => {
  const plain = await airline.client.diff({ history, a: '@c2', b: '@c3' });
  expect(Object.keys(plain)).toEqual(['added', 'removed', 'changed']);
  const explained = await airline.client.diff({ history, a: '@c2', b: '@c3', explain: '1' });
  expect(explained).toMatchObject({ ...plain, a: { label: '@c2' }, b: { label: '@c3' } });
  if (!('entries' in explained)) throw new Error('it is not explained');
  expect(explained.entries.map(({ id, causes }) => [id, ...causes.map(({ cause }) => cause.kind)])).toEqual([
    ['t3', 'sealing'],
    ['done', 'mutation'],
    ['found', 'expiry'],
  ]);
  const thread = await airline.client.thread({ history, at: '@c3' });
  const { from, to } = explained.entries[1]?.bytes.b ?? { from: 0, to: 0 };
  expect(JSON.parse(thread.slice(from, to))).toMatchObject({ id: 'done' });
});

test('why gives all events of a node, and answers not found for a node that never existed [context-tree §3: one cause]', async () => {
  expect(await airline.client.why({ history, node: 'found' })).toMatchObject({
    node: 'found',
    present: false,
    snapshots: { first: 1, last: 2 },
    added: {
      cause: { kind: 'mutation', op: 'insert', by: null },
      command: 'one',
      author: { recorder: 'agent' },
    },
    changes: [
      { cause: { kind: 'sealing', turn: 't1' }, explains: ['parent'] },
      { cause: { kind: 'ageing' }, cycle: 2, until: 2 },
    ],
    removed: { cause: { kind: 'expiry' }, command: 'three' },
  });
  expect(await airline.client.why({ history, node: 'found', at: '@c1' })).toMatchObject({ present: true });
  await expect(airline.client.why({ history, node: 'nobody' })).rejects.toMatchObject({
    code: 'E_NODE_NOT_FOUND',
  });
});

test('events of one node are read in pages, from its timeline', async () => {
  const all = await airline.client.events({ history, node: 'found' });
  expect(all.events.map(({ event }) => event.type)).toEqual(['NodeInserted', 'NodeExpired']);
  const first = await airline.client.events({ history, node: 'found', limit: 1 });
  expect(first.events.map(({ seq }) => seq + 1)).toEqual([first.next]);
  const rest = await airline.client.events({ history, node: 'found', from: first.next ?? 0 });
  expect(rest).toEqual({ history: all.history, events: all.events.slice(1), next: null });
  await expect(airline.client.events({ history, node: 'nobody' })).rejects.toMatchObject({
    code: 'E_NODE_NOT_FOUND',
  });
});
