import type { StepRequest } from '@stemma/api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { block, commit, openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

test(
  'an answered command is durable; sent again it gets the same answer and has no second effect',
  { tags: ['record§3:commands-remembered'] },
  async () => {
    const send = () => airline.record('five', block('new', 'x'), commit(4));
    const first = await send();
    expect(first).toMatchObject({ repeated: false, position: { label: '@c4', seq: 5, committed: true } });
    expect(first.events.map(({ type }) => type)).toEqual(['NodeInserted', 'TurnSealed', 'SnapshotCommitted']);
    expect(await send()).toEqual({ ...first, repeated: true });
    await expect(airline.record('five', commit(5))).rejects.toMatchObject({ code: 'E_COMMAND_REUSED' });
  },
);

test('a command that expects an older frame ends in a conflict, and a refused command records nothing', async () => {
  const { frames } = await airline.client.history({ history: 'airline' });
  const body = { id: 'late', recorder: 'agent', expected: 0, steps: [commit(9)] };
  await expect(airline.client.command({ history: 'airline', body })).rejects.toMatchObject({
    code: 'E_CONFLICT',
  });
  await expect(airline.record('twice', block('fresh', 'x'), block('ask', 'again'))).rejects.toMatchObject({
    code: 'E_NODE_EXISTS',
  });
  expect((await airline.client.history({ history: 'airline' })).frames).toBe(frames);
});

test('a setting that no round of a pool could run with is refused when it is given', async () => {
  await airline.client.start({ body: { id: 'start-sea', recorder: 'agent', name: 'sea' } });
  const set = (id: string, values: { [key: string]: string | number }) =>
    airline.client.command({
      history: 'sea',
      body: { id, recorder: 'agent', steps: [{ op: 'config', set: values }] },
    });
  await set('pool', { sample_size: 3, active_pool_size: 9 });
  for (const [id, values] of Object.entries({ none: { sample_size: 0 }, text: { sample_size: 'three' } }))
    await expect(set(id, values)).rejects.toMatchObject({ code: 'E_CONFIG_INVALID' });
  expect((await set('four', { sample_size: 4 })).repeated).toBe(false);
  expect((await set('four', { sample_size: 4 })).repeated).toBe(true);
});

test('insert, replace, move, remove, commit, name and annotate can be done over HTTP', async () => {
  await airline.client.start({ body: { id: 'start-steps', recorder: 'agent', name: 'steps' } });
  const run = (id: string, ...steps: StepRequest[]) =>
    airline.client.command({ history: 'steps', body: { id, recorder: 'agent', steps } });
  const answer = await run(
    'all',
    { op: 'insert', parent: '^ah', node: { id: 'box', nodeType: 'mc' } },
    block('a', 'one', 'user', { offset: -1 }),
    block('b', 'two', 'system'),
    { op: 'replace', id: 'b', set: { content: 'three' } },
    { op: 'remove', id: 'a' },
    block('c', 'four', 'system'),
    { op: 'move', id: 'c', parent: 'box' },
    { op: 'commit' },
    { op: 'name', name: 'first' },
    { op: 'annotate', note: 'as it should be' },
  );
  expect(answer.position.label).toBe('@c1');
  expect(
    (await airline.client.tree({ history: 'steps', at: '@name:first' })).nodes.map(({ id, content }) => [
      id,
      content?.text,
    ]),
  ).toEqual([
    ['root', undefined],
    ['sys', undefined],
    ['b', 'three'],
    ['seq', undefined],
    [
      answer.events.flatMap((event) =>
        event.type === 'TurnSealed' ? [(event['turn'] as { id: string }).id] : [],
      )[0],
      undefined,
    ],
    ['box', undefined],
    ['c', 'four'],
    ['ah', undefined],
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
  const response = await airline.app.request('/api/histories/airline/commands', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { code } });
});

test('a body of a type that a form of another site can send is refused', async () => {
  const response = await airline.app.request('/api/histories/airline/commands', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '{}',
  });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'E_USAGE' } }]);
});
