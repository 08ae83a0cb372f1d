import { WatchAnswer } from '@stemma/api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { block, openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

const open = (selector: string, headers: Record<string, string> = {}) =>
  airline.app.request(`/api/histories/airline/watch?selector=${encodeURIComponent(selector)}`, { headers });

/** The next results of a stream, and the cursor behind the last of them. */
const results = async (response: Response, count: number) => {
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  const found: WatchAnswer[] = [];
  let cursor = '';
  for (let text = ''; found.length < count;) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (text + value).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      cursor = /^id: (.*)$/m.exec(part)?.[1] ?? cursor;
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data !== undefined && part.includes('event: result'))
        found.push(WatchAnswer.parse(JSON.parse(data)));
    }
  }
  await reader.cancel();
  return { found, cursor };
};

test('a watch streams the result of a selector and its changes, and resumes after the last id', async () => {
  const { found, cursor } = await results(await open("^ah .cb[role='user']"), 1);
  expect(found).toMatchObject([{ first: true, ids: ['thanks'], added: ['thanks'], removed: [] }]);
  await airline.record('live', block('bye', 'Bye!'));
  const next = await results(await open("^ah .cb[role='user']", { 'last-event-id': cursor }), 1);
  expect(next.found).toMatchObject([{ first: false, ids: ['thanks', 'bye'], added: ['bye'], removed: [] }]);
});

test.each([
  ['^ah .cb', 'nonsense', 409, 'E_STREAM_GONE'],
  ['^ah .cb', 'alogofanotherhome:0~0.0', 409, 'E_STREAM_GONE'],
  ['^ah .cb[', '', 400, 'E_SELECTOR_INVALID'],
  ['@c1 .cb', '', 400, 'E_USAGE'],
])('a watch of %s resumed after %j is answered with %i and %s', async (selector, after, status, code) => {
  const response = await open(selector, after === '' ? {} : { 'last-event-id': after });
  expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
});
