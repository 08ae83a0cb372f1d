import { CtreeMessage, CtreeView } from '@stemma/api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { block, openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

const open = (session: string, headers: Record<string, string> = {}) =>
  airline.app.request(`/sessions/${session}/ctrees/stream`, { headers });

/** The messages of a stream until one of `count` snapshots was told, and the cursor behind them. */
const messagesUntil = async (count: number, response: Response) => {
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  const messages: CtreeMessage[] = [];
  let cursor = '';
  const snapshots = (): number => messages.filter(({ type }) => type === 'ctree_snapshot').length;
  for (let text = ''; snapshots() < count;) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (text + value).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      cursor = /^id: (.*)$/m.exec(part)?.[1] ?? cursor;
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data !== undefined) messages.push(CtreeMessage.parse(JSON.parse(data)));
    }
  }
  await reader.cancel();
  return { messages, cursor };
};

test(
  'a session is a history or a branch: at any position its stages are given with snapshot, last node, compiler, policy and hashes',
  { tags: ['compiler-stages:http'] },
  async () => {
    const { client } = airline;
    const now = await client.ctrees({ session: 'airline' });
    expect(now.snapshot.node_count).toBe(now.compiler.node_count);
    expect(now.last_node?.node_id).toBe(now.snapshot.last_id);
    expect(now.hashes).toEqual(now.compiler.hashes);
    expect(now.collapse.stages.map(({ stage }) => stage)).toEqual(['RAW', 'SPEC', 'HEADER', 'FROZEN']);
    const { snapshots } = await client.snapshots({ history: 'airline' });
    const past = await client.ctrees({ session: 'airline', at: snapshots.at(-1)!.label });
    expect(past.snapshot.node_count).toBeLessThan(now.snapshot.node_count);
    const engine = await client.ctrees({ session: 'airline', profile: 'breadboard-0.1' });
    expect([engine.hashes.z1.length, now.hashes.z1.length]).toEqual([40, 64]);
    await expect(client.ctrees({ session: 'nobody' })).rejects.toMatchObject({ code: 'E_HISTORY_NOT_FOUND' });
  },
);

test(
  'the tree of a stage has the same nodes with and without previews, and text only with previews',
  { tags: ['compiler-stages:http', 'compiler-stages:safety'] },
  async () => {
    const get = async (query: string) =>
      (await airline.app.request(`/sessions/airline/ctrees/tree${query}`)).text();
    const [without, previews] = [
      await get('?stage=HEADER'),
      await get('?stage=HEADER&include_previews=true'),
    ];
    expect(without).not.toContain('content_preview');
    expect(previews).toContain('content_preview');
    const [a, b] = [without, previews].map((text) => CtreeView.parse(JSON.parse(text)));
    expect(a!.nodes.map(({ id }) => id)).toEqual(b!.nodes.map(({ id }) => id));
    expect([a!.root_id, a!.nodes[0]!.id, a!.hashes.z2]).toEqual(['ctrees:root', 'ctrees:root', b!.hashes.z2]);
    expect(JSON.parse(await get(''))).toMatchObject({ stage: 'FROZEN' });
    expect((await airline.app.request('/sessions/airline/ctrees/tree?stage=COOKED')).status).toBe(400);
  },
);

test('the node stream is read in pages, as hashes', { tags: ['compiler-stages:http'] }, async () => {
  const { client } = airline;
  const all = await client.ctreesEvents({ session: 'airline', limit: 1_000 });
  expect(all.events.map(({ ordinal }) => ordinal)).toEqual(all.events.map((_, i) => i));
  const page = await client.ctreesEvents({ session: 'airline', offset: 3, limit: 4 });
  expect(page).toEqual({ events: all.events.slice(3, 7), offset: 3, limit: 4, total: all.total });
  const wrong = await airline.app.request('/sessions/airline/ctrees/events?offset=-1');
  expect([wrong.status, await wrong.json()]).toMatchObject([
    400,
    { error: { code: 'E_USAGE', message: 'offset: a whole number from 0 is wanted, not "-1"' } },
  ]);
  expect(all.events.filter(({ kind, payload }) => kind !== 'lifecycle' && payload !== null)).toEqual([]);
});

test(
  'the live stream sends nodes and snapshots, and resumes after the last id',
  { tags: ['compiler-stages:http'] },
  async () => {
    const stream = await open('airline');
    await airline.record('ct-1', block('ct-1', 'first words'), { op: 'commit' });
    const first = await messagesUntil(1, stream);
    expect(
      first.messages.map((one) => (one.type === 'ctree_node' ? one.payload.node.label : one.type)),
    ).toEqual(['message:user', 'lifecycle:sealed', 'lifecycle:committed', 'ctree_snapshot']);
    expect(JSON.stringify(first.messages)).not.toContain('first words');
    const told = first.messages.at(-1)!;
    const now = await airline.client.ctrees({ session: 'airline' });
    expect(told.type === 'ctree_snapshot' && told.payload).toEqual(now);
    await airline.record('ct-2', block('ct-2', 'x'), { op: 'commit' });
    await airline.record('ct-3', block('ct-3', 'x'), { op: 'commit' });
    const rest = await messagesUntil(2, await open('airline', { 'last-event-id': first.cursor }));
    const ordinals = rest.messages.flatMap((one) =>
      one.type === 'ctree_node' ? [one.payload.node.ordinal] : [],
    );
    expect(ordinals).toEqual(Array.from({ length: 6 }, (_, i) => now.snapshot.node_count + i));
  },
);

test(
  'the stream of a history continues after a rollback, also from a cursor before it; the stream of the abandoned branch does not',
  { tags: ['compiler-stages:http', 'context-tree§5:rollback'] },
  async () => {
    const labels = ({ messages }: Awaited<ReturnType<typeof messagesUntil>>): readonly string[] =>
      messages.map((one) => (one.type === 'ctree_node' ? one.payload.node.label : one.type));
    const main = await open('airline');
    await airline.record('rb-1', block('rb-1', 'soon left'), { op: 'commit' });
    const before = await messagesUntil(1, main);
    const branchId = (await airline.home.find('airline')).branchId;
    const left = await open(`airline:${branchId}`);
    const live = await open('airline', { 'last-event-id': before.cursor });
    await airline.record('rb-2', block('rb-2', 'left'), { op: 'commit' });
    await airline.record('rb-3', { op: 'rollback', to: '@c1' });
    await airline.record('rb-4', block('rb-4', 'goes on'), { op: 'commit' });
    const wanted = [
      ...['message:user', 'lifecycle:sealed', 'lifecycle:committed', 'ctree_snapshot'],
      'lifecycle:rolled_back',
      ...['message:user', 'lifecycle:sealed', 'lifecycle:committed', 'ctree_snapshot'],
    ];
    const told = await messagesUntil(2, live);
    expect(labels(told)).toEqual(wanted);
    const last = told.messages.at(-1)!;
    expect(last.type === 'ctree_snapshot' && last.payload).toEqual(
      await airline.client.ctrees({ session: 'airline' }),
    );
    const again = await messagesUntil(2, await open('airline', { 'last-event-id': before.cursor }));
    expect(again.messages).toEqual(told.messages);
    expect(labels(await messagesUntil(1, left))).toEqual(wanted.slice(0, 4));
  },
);

test(
  'a cursor that the log does not have is answered with 409',
  { tags: ['compiler-stages:http'] },
  async () => {
    const response = await open('airline', { 'last-event-id': 'alogofanotherhome:0' });
    expect([response.status, await response.json()]).toMatchObject([
      409,
      { error: { code: 'E_STREAM_GONE' } },
    ]);
    expect((await open('nobody')).status).toBe(404);
  },
);
