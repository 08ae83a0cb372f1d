import { createClient } from '@stemma/api';
import { openHome } from '@stemma/home';
import { serveRun } from '@stemma/pools';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGateway } from '../src/gateway.ts';

const SEEDS = [
  'The sea keeps what it is given.',
  'Nobody counts the stones at night.',
  'A door that is open is not yet a way.',
  'Who samples the sampler?',
];

const setUp = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-pools-'));
  const home = await openHome({ directory, create: true });
  const app = createGateway({ home, env: {} });
  const client = createClient(async (url, init) => app.request(url, init), 'http://127.0.0.1');
  const start = (name: string, settings = {}) =>
    client.startPool({
      body: {
        id: `start-${name}`,
        actor: 'ann',
        notes: 'a start',
        name,
        messages: SEEDS,
        settings: { sample_size: 2, seed: 7, ...settings },
      },
    });
  return {
    home,
    app,
    client,
    start,
    close: async () => {
      await home.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

let open: Awaited<ReturnType<typeof setUp>>;
beforeAll(async () => {
  open = await setUp();
});
afterAll(() => open.close());

test(
  'a session goes over HTTP from the first message to the branches: each intervention names its actor and reason',
  { tags: ['pool:Runner', 'pool:Interventions'] },
  async () => {
    const { client, start, home } = open;
    const started = await start('sea');
    expect(await start('sea')).toEqual({ ...started, repeated: true });
    const history = 'sea';
    const by = { actor: 'ann', notes: 'over HTTP' };
    expect(await client.runPool({ history, body: { ...by, rounds: 5, checkpointEvery: 2 } })).toMatchObject({
      ended: 'rounds',
      rounds: 5,
      added: 5,
      error: null,
    });
    expect(await client.pool({ history })).toMatchObject({
      round: 5,
      messages: 9,
      settings: { sample_size: 2, seed: 7 },
    });
    await client.command({ history, body: { id: 'save', ...by, steps: [{ op: 'save', name: 'decision' }] } });
    await client.command({ history, body: { id: 'fork', ...by, steps: [{ op: 'fork', name: 'probe' }] } });
    await client.command({
      history: 'sea:probe',
      body: { id: 'inject', ...by, steps: [{ op: 'inject', text: 'What if this could be undone?' }] },
    });
    await client.runPool({ history: 'sea:probe', body: { ...by, rounds: 3 } });
    const asked = { id: 'ask', ...by, question: 'What changed?' };
    const reply = await client.askPool({ history: 'sea:probe', body: asked });
    expect(reply).toMatchObject({ mind: 'offline', messages: 13 });
    await client.load({ history: 'sea:probe', body: { id: 'load', ...by, from: '@name:decision' } });
    const listed = await client.poolMessages({ history, words: 'SEA keeps' });
    expect(listed.messages[0]).toMatchObject({ text: SEEDS[0], source: 'seed', mind_id: -1, round: 0 });
    const near = await client.poolMessages({ history, like: SEEDS[3], limit: 2 });
    expect(near.messages).toHaveLength(2);
    expect(near.messages[0]).toMatchObject({ text: SEEDS[3] });
    expect(near.messages[0]?.similarity).toBeCloseTo(1, 5);
    expect((await client.poolMessages({ history, skip: 2, limit: 3 })).messages).toHaveLength(3);
    expect((await client.poolMetrics({ history, last: 1 })).snapshots).toHaveLength(1);
    const { interventions } = await home.queries.audit.interventions(await home.find('sea'));
    expect(new Set(interventions.map(({ actor }) => actor))).toEqual(new Set(['ann']));
    const types = interventions.map(({ intervention_type: type }) => type);
    for (const type of ['run', 'save', 'fork'] as const) expect(types).toContain(type);
    expect(await home.operations.verify()).toMatchObject({ ok: true });
  },
);

test(
  'rounds are asked of a runner over HTTP, stopped, and asked for again; progress is shown',
  { tags: ['pool:Runner'] },
  async () => {
    const { client, start, home } = open;
    await start('long');
    const body = { id: 'r1', actor: 'ann', notes: 'over night', rounds: 6 };
    const asked = await client.requestRun({ history: 'long', body });
    expect(asked).toMatchObject({ run: 'r1', state: 'waiting', done: 0 });
    expect(await client.requestRun({ history: 'long', body })).toEqual(asked);
    const stop = new AbortController();
    const serve = async (run: string, signal: AbortSignal) =>
      serveRun(home, await home.queries.runs.find(asked.history, run), {
        runner: 'one',
        clock: () => Date.now(),
        signal,
        progress: ({ round }) => round === 2 && stop.abort(),
      });
    await serve('r1', stop.signal);
    expect((await client.poolRuns({ open: 'true' })).runs).toMatchObject([
      { run: 'r1', state: 'running', done: 2, runner: 'one' },
    ]);
    const over = await client.stopRun({
      history: 'long',
      run: 'r1',
      body: { actor: 'bob', notes: 'enough' },
    });
    expect(over).toMatchObject({
      state: 'ended',
      done: 2,
      ended: { how: 'stopped', by: 'bob', notes: 'enough' },
    });
    const again = await client.resumeRun({ history: 'long', run: 'r1', body: { id: 'r2', actor: 'ann' } });
    expect(again).toMatchObject({ run: 'r2', rounds: 4, state: 'waiting' });
    expect(await serve('r2', new AbortController().signal)).toBe('rounds');
    expect((await client.poolRuns({ history: 'long' })).runs.map(({ run, done }) => [run, done])).toEqual([
      ['r1', 2],
      ['r2', 4],
    ]);
  },
);

test.each([
  ['a round more than none', '/pool/run', { actor: 'a', rounds: 0 }, 'E_COMMAND_INVALID'],
  ['no actor', '/pool/run', { rounds: 1 }, 'E_COMMAND_INVALID'],
  ['a cost that is none', '/pool/runs', { id: 'x', actor: 'a', rounds: 1, cost: '1e9' }, 'E_COMMAND_INVALID'],
  ['a name of control characters', '/pool/run', { actor: 'a\u0007', rounds: 1 }, 'E_ACTOR_INVALID'],
  [
    'a name of control characters, for a question',
    '/pool/ask',
    { id: 'q', actor: 'a\u0007', question: 'x' },
    'E_ACTOR_INVALID',
  ],
  ['an empty question', '/pool/ask', { id: 'q', actor: 'a', question: ' ' }, 'E_USAGE'],
  [
    'a mind that is not allowed',
    '/pool/ask',
    { id: 'q', actor: 'a', question: 'x', mind: 'openai:gpt@http://127.0.0.1:9' },
    'E_MIND_NOT_ALLOWED',
  ],
  [
    'a mind that there is not',
    '/pool/ask',
    { id: 'q', actor: 'a', question: 'x', mind: 'nobody' },
    'E_MIND_NOT_ALLOWED',
  ],
  ['a field too many', '/pool/runs', { id: 'x', actor: 'a', rounds: 1, more: 1 }, 'E_COMMAND_INVALID'],
  ['a run that there is not', '/pool/runs/none/stop', { actor: 'a' }, 'E_RUN_NOT_FOUND'],
])(
  '%s is refused with a code, and the pool stays as it is',
  { tags: ['pool:Runner'] },
  async (_what, path, body, code) => {
    const { app, client, start, home } = open;
    await start('still');
    const before = await client.pool({ history: 'still' });
    const response = await app.request(`http://127.0.0.1/api/histories/still${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(((await response.json()) as { error: { code: string } }).error.code).toBe(code);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(await client.pool({ history: 'still' })).toEqual(before);
    expect(await home.operations.verify()).toMatchObject({ ok: true });
  },
);

test('messages are asked for by words or by likeness, and not by both', async () => {
  const { client, start } = open;
  await start('both');
  await expect(client.poolMessages({ history: 'both', words: 'a', like: 'b' })).rejects.toMatchObject({
    code: 'E_USAGE',
  });
});

test(
  'vectors are brought, and asked for, over HTTP; a search asks nobody',
  { tags: ['pool§6.6'] },
  async () => {
    const { client, start, home } = open;
    await start('brought', { embedder: 'outside:mine' });
    const by = { actor: 'ann', notes: 'over HTTP' };
    const history = 'brought';
    const [first] = (await client.poolMessages({ history })).messages;
    const found = await client.embedPool({
      history,
      body: {
        id: 'bring',
        ...by,
        vectors: [
          { vector: [1, 0], message: first?.id ?? '' },
          { vector: [0.5, 1], text: 'Who samples the sampler?' },
        ],
      },
    });
    expect(found).toMatchObject({
      embedder: 'outside:mine',
      dimension: 2,
      recorded: 2,
      known: 0,
      missing: 2,
    });
    expect((await client.poolMetrics({ history })).now).toMatchObject({
      embedder: 'outside:mine',
      embedded: 2,
    });
    expect((await client.poolNear({ history, text: 'Who samples the sampler?' })).near).toHaveLength(2);
    const refused: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => client.embedPool({ history, body: { id: 'none', ...by } }), 'E_EMBEDDER_INVALID'],
      [
        () =>
          client.embedPool({
            history,
            body: { id: 'two', ...by, vectors: [{ vector: [1, 2, 3], vector_id: 0 }] },
          }),
        'E_VECTORS',
      ],
      [
        () =>
          client.embedPool({
            history,
            body: { id: 'three', ...by, vectors: [{ vector: [1, 2], vector_id: 99 }] },
          }),
        'E_NODE_NOT_FOUND',
      ],
      [
        () => client.embedPool({ history, body: { id: 'four', ...by, vectors: [{ vector: [1, 2] }] } }),
        'E_VECTORS',
      ],
      [() => client.embedPool({ history, body: { id: 'five', ...by, embedder: 'outside:a' } }), 'E_USAGE'],
      [() => client.poolNear({ history, text: 'unknown' }), 'E_EMBEDDER_INVALID'],
      [() => start('refused', { embedder: 'openai:e@http://127.0.0.1:9/v1' }), 'E_MIND_NOT_ALLOWED'],
    ];
    for (const [answer, code] of refused) await expect(answer()).rejects.toMatchObject({ code });
    await expect(home.find('refused')).rejects.toMatchObject({ code: 'E_HISTORY_NOT_FOUND' });

    // Somebody else configured an endpoint: who only searches asks it nothing.
    await client.command({
      history,
      body: {
        id: 'set',
        ...by,
        steps: [{ op: 'config', set: { embedder: 'openai:e@http://127.0.0.1:9/v1' } }],
      },
    });
    for (const answer of [
      () => client.poolNear({ history, text: 'unknown' }),
      () => client.poolMessages({ history, like: 'unknown' }),
      () => client.embedPool({ history, body: { id: 'six', ...by } }),
    ])
      await expect(answer()).rejects.toMatchObject({ code: 'E_MIND_NOT_ALLOWED' });
  },
);
