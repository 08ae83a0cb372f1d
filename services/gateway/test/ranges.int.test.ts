import { afterAll, beforeAll, expect, test } from 'vitest';
import { commit, openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
  await airline.record(
    'five',
    { op: 'replace', id: 'policy', set: { content: 'Be kind.\nBe brief.' } },
    commit(4),
  );
});
afterAll(() => airline.close());

const history = 'airline';
const get = async (path: string, query: Record<string, string>) => {
  const address = `/api/histories/airline/${path}?${new URLSearchParams(query).toString()}`;
  const answer = await airline.app.request(address);
  return { status: answer.status, body: await answer.text() };
};

test.each([
  ['@t-1..@c1 .cb', 400, 'E_SNAPSHOT_RANGE_KIND_MISMATCH'],
  ['@t-1..@* .cb', 400, 'E_SNAPSHOT_RANGE_WILDCARD'],
  ['@t-1000..@t0 .cb', 400, 'E_SNAPSHOT_RANGE_LIMIT'],
  ['@t-4..@t0 .cb', 404, 'E_SNAPSHOT_NOT_FOUND'],
  ['@t0 .cb', 400, 'E_SELECTOR_INVALID'],
  ['@t-1..@t0 .cb[', 400, 'E_SELECTOR_INVALID'],
])(
  'the range %s is answered with %i and %s',
  { tags: ['context-tree§8:codes', 'context-tree§10.22'] },
  async (selector, status, code) => {
    const answer = await get('range', { selector });
    expect([answer.status, (JSON.parse(answer.body) as { error: { code: string } }).error.code]).toEqual([
      status,
      code,
    ]);
    await expect(airline.client.range({ history, selector })).rejects.toMatchObject({ code });
  },
);

test(
  'unknown options of a range are refused, and a range cannot be read as a list of ids',
  { tags: ['context-tree§8:codes'] },
  async () => {
    const selector = '@t-1..@t0 .cb';
    for (const query of [{ contentMode: 'words' }, { limit: '-1' }, { includeContent: 'perhaps' }])
      expect((await get('range', { selector, ...query })).status).toBe(400);
    const asked = await get('select', { selector });
    expect([asked.status, asked.body.includes('E_SELECTOR_INVALID')]).toEqual([400, true]);
  },
);
