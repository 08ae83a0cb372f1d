import { StreamMessage } from '@stemma/api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGateway } from '../src/index.ts';
import { block, openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

const open = (headers: Record<string, string>) =>
  airline.app.request('/api/events?history=airline', { headers });

/** The ids of the nodes that a stream tells of until `last` came, and the cursor behind it. */
const nodesUntil = async (last: string, response: Response) => {
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  const nodes: string[] = [];
  let cursor = '';
  for (let text = ''; !nodes.includes(last);) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (text + value).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      cursor = /^id: (.*)$/m.exec(part)?.[1] ?? cursor;
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data === undefined) continue;
      for (const { event } of StreamMessage.parse(JSON.parse(data)).events)
        nodes.push((event as { node?: { id: string } }).node?.id ?? '');
    }
  }
  await reader.cancel();
  return { nodes, cursor };
};

test(
  'the stream of a real log resumes after the last id, also when events of other histories are in between',
  { tags: ['record§5'] },
  async () => {
    const stream = await open({});
    await airline.record('live-1', block('live-1', 'x'));
    const { nodes, cursor } = await nodesUntil('live-1', stream);
    expect(nodes).toEqual(['live-1']);
    await airline.record('live-2', block('live-2', 'x'));
    await airline.client.command({
      history: 'other',
      body: { id: 'elsewhere', recorder: 'agent', steps: [block('elsewhere', 'x')] },
    });
    await airline.record('live-3', block('live-3', 'x'));
    expect((await nodesUntil('live-3', await open({ 'last-event-id': cursor }))).nodes).toEqual([
      'live-2',
      'live-3',
    ]);
  },
);

test.each(['nonsense', 'alogofanotherhome:0', ':', 'x'.repeat(8_000)])(
  'the cursor %.20s is answered with 409',
  async (cursor) => {
    const response = await airline.app.request('/api/events', { headers: { 'last-event-id': cursor } });
    expect([response.status, await response.json()]).toMatchObject([
      409,
      { error: { code: 'E_STREAM_GONE' } },
    ]);
  },
);

test('when the server stops, the stream of a real log sends a last message', async () => {
  const closing = new AbortController();
  const app = createGateway({ home: airline.home, closing: closing.signal });
  const text = (await app.request('/api/events')).text();
  closing.abort();
  expect(await text).toContain('event: end\ndata: {"error":{"code":"E_BUSY"');
});
