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

test('a range over HTTP gives the same bytes as the range result, for every client and every time [context-tree §6: range result] [context-tree §6: pure]', async () => {
  const selector = '@c3..1 ^seq .cb';
  const { status, body } = await get('range', { selector });
  expect([status, body]).toEqual([
    200,
    JSON.stringify({
      query: selector,
      snapshots: [3, 2, 1].map((cycle) => ({ kind: 'c', value: cycle, label: `@c${cycle}`, cycle })),
      diffs: [
        {
          from: '@c3',
          to: '@c2',
          added_ids: ['done'],
          removed_ids: ['found'],
          changed: [],
          stats: { added: 1, removed: 1, changed: 0 },
        },
        {
          from: '@c2',
          to: '@c1',
          added_ids: ['answer', 'more'],
          removed_ids: [],
          changed: [{ id: 'found', fields: ['ttl'], delta: { ttl: { from: 0, to: 1 } } }],
          stats: { added: 2, removed: 0, changed: 1 },
        },
      ],
      mode: 'pairwise',
    }),
  ]);
  expect(await airline.client.range({ history, selector })).toEqual(JSON.parse(body));
  expect((await get('range', { selector })).body).toBe(body);
});

test('contents, windows and limits are requested by query parameters [context-tree §6: range result] [context-tree §6: windows]', async () => {
  const selector = '@t-3..@t0 .cb';
  const changed = await airline.client.range({
    history,
    selector: '@t-1..@t0 #policy',
    includeContent: true,
    contextLines: 0,
  });
  expect(changed.diffs[0]?.changed[0]).toMatchObject({
    id: 'policy',
    fields: ['content_hash'],
    content_diff: {
      mode: 'unified',
      mime: 'text/x-diff',
      summary: { bytesNewer: 18, bytesOlder: 8, identical: false, truncated: false },
    },
  });
  const few = { history, selector, maxChangesPerSnapshot: 1, maxSnapshots: 4, skip: 1, limit: 1 };
  expect(await airline.client.range(few)).toMatchObject({
    diffs: [{ from: '@t-1', to: '@t-2', added_ids: ['done'], removed_ids: [] }],
    limits: { maxChangesPerSnapshot: 1, maxSnapshots: 4, truncated: true },
  });
  const patch = { includeContent: true, contentMode: 'tokens' } as const;
  const tokens = await airline.client.range({ history, selector: '@t-1..@t0 #policy', ...patch });
  expect(tokens.diffs[0]?.changed[0]?.content_diff?.hunks).toEqual([
    { op: 'equal', text: 'Be kind.' },
    { op: 'insert', text: '\nBe brief.' },
  ]);
});

test.each([
  ['@t-1..@c1 .cb', 400, 'E_SNAPSHOT_RANGE_KIND_MISMATCH'],
  ['@t-1..@* .cb', 400, 'E_SNAPSHOT_RANGE_WILDCARD'],
  ['@t-1000..@t0 .cb', 400, 'E_SNAPSHOT_RANGE_LIMIT'],
  ['@t-4..@t0 .cb', 404, 'E_SNAPSHOT_NOT_FOUND'],
  ['@t0 .cb', 400, 'E_SELECTOR_INVALID'],
  ['@t-1..@t0 .cb[', 400, 'E_SELECTOR_INVALID'],
])(
  'the range %s is answered with %i and %s [context-tree §8: codes] [context-tree §10.22]',
  async (selector, status, code) => {
    const answer = await get('range', { selector });
    expect([answer.status, (JSON.parse(answer.body) as { error: { code: string } }).error.code]).toEqual([
      status,
      code,
    ]);
    await expect(airline.client.range({ history, selector })).rejects.toMatchObject({ code });
  },
);

test('unknown options of a range are refused, and a range cannot be read as a list of ids [context-tree §8: codes]', async () => {
  const selector = '@t-1..@t0 .cb';
  for (const query of [{ contentMode: 'words' }, { limit: '-1' }, { includeContent: 'perhaps' }])
    expect((await get('range', { selector, ...query })).status).toBe(400);
  const asked = await get('select', { selector });
  expect([asked.status, asked.body.includes('E_SELECTOR_INVALID')]).toEqual([400, true]);
});

test('a diff is restricted to what a selector matches in either position, explained too [context-tree §7: shape] [context-tree §7: explain]', async () => {
  const ask = { history, a: '@c1', b: '@c3', selector: '.cb[ttl>=0]' };
  expect(await airline.client.diff(ask)).toEqual({ added: [], removed: ['found'], changed: [] });
  const explained = await airline.client.diff({ ...ask, b: '@c2', explain: '1' });
  expect(explained).toMatchObject({
    changed: [{ id: 'found', fields: ['ttl'] }],
    entries: [{ id: 'found', change: 'changed', causes: [{ cause: { kind: 'ageing' } }] }],
  });
  await expect(airline.client.diff({ ...ask, selector: '@t0 .cb' })).rejects.toMatchObject({
    code: 'E_SELECTOR_INVALID',
  });
  await expect(airline.client.diff({ ...ask, b: '@c9' })).rejects.toMatchObject({
    code: 'E_SNAPSHOT_NOT_FOUND',
  });
});
