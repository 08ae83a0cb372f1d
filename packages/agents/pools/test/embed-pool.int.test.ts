import { diversity, EMBEDDER, npyBytes, vectorsFrom } from '@stemma/analysis';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { sendAnswer, sendJson, startModels, type ModelScript, type ScriptedModels } from '@stemma/test-kit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  bringVectors,
  embedMissing,
  messagesNear,
  readBroughtVectors,
  runPool,
  startPool,
  viewPool,
} from '../src/index.ts';

let directory: string;
let home: Home;
let server: ScriptedModels;
/** What the embeddings endpoint does in place of answering. */
let broken: ModelScript | null;
/** Texts that it was asked for, in the order in which it was. */
let asked: string[];
let answers: number;

/** Few numbers, of which every text has others. */
const vectorOf = (text: string): number[] => [1, text.length / 100, (text.codePointAt(0) ?? 0) / 1_000];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-embed-'));
  home = await openHome({ directory, create: true });
  [broken, asked, answers] = [null, [], 0];
  server = await startModels((call, n, outgoing, incoming) => {
    if (!call.path.endsWith('/embeddings')) {
      answers++;
      sendAnswer(call, outgoing, { text: `thinking\n---\nsaid ${answers}\n---\nand ${answers}` });
      return;
    }
    if (broken !== null) {
      void broken(call, n, outgoing, incoming);
      return;
    }
    const texts = call.asked?.['input'] as string[];
    asked.push(...texts);
    sendJson(outgoing, 200, { data: texts.map((text, index) => ({ index, embedding: vectorOf(text) })) });
  });
});
afterEach(async () => {
  await server.close();
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

const SEEDS = ['The sea keeps.', 'Nobody counts.', 'A door is open.', 'The sea keeps.'];
const embedder = (): string => `openai:e@${server.url}/v1`;
const minds = () => ({
  env: { OPENAI_API_KEY: 'sk-secret-0123456789' },
  limits: { tries: 1, firstByte: 200 },
});

const start = async (settings = {}): Promise<BranchRef> => {
  await startPool(home, {
    id: 'start',
    name: 'sea',
    by: { actor: 'ann' },
    messages: SEEDS,
    settings: { sample_size: 2, minds: [`openai:m@${server.url}/v1`], embedder: embedder(), ...settings },
    minds: minds(),
  });
  return home.find('sea');
};

const run = (branch: BranchRef, rounds: number) =>
  runPool(home, branch, { rounds, actor: 'ann', minds: minds() });

const floats = (vector: readonly number[]): Float32Array => Float32Array.from(vector);

/** The vectors of all messages at the tip, by their texts. */
const stored = async (branch: BranchRef): Promise<ReadonlyMap<string, Float32Array>> => {
  const { messages } = await home.queries.pools.embedded(await home.position(branch));
  const texts = new Map((await viewPool(home, branch)).messages.map(({ id, text }) => [id, text]));
  return new Map(messages.map(({ node, vector }) => [texts.get(node) ?? '', vector]));
};

const inject = (branch: BranchRef, text: string) =>
  home.submit({
    id: `inject ${text}`,
    ...branch,
    by: { actor: 'ann' },
    steps: [{ op: 'inject', text }],
  });

test(
  'the endpoint is asked once for each text, and a replay asks nobody and has the same bits',
  { tags: ['pool§1.7', 'pool§6.6', 'pool§6.11'] },
  async () => {
    const branch = await start();
    expect(asked).toEqual([...new Set(SEEDS)]);
    expect((await run(branch, 2)).error).toBeNull();
    await inject(branch, 'Is it reversible?');
    await inject(branch, 'Nobody counts.');
    await run(branch, 2);
    const { messages } = await viewPool(home, branch);
    expect(messages).toHaveLength(SEEDS.length + 10);
    expect(asked).toHaveLength(new Set(asked).size);
    expect(new Set(asked)).toEqual(new Set(messages.map(({ text }) => text)));
    expect(await stored(branch)).toEqual(new Map(messages.map(({ text }) => [text, floats(vectorOf(text))])));
    const position = await home.position(branch);
    const metrics = await home.queries.pools.metrics(position);
    expect(metrics.embedder).toBe(embedder());
    expect(metrics.now.embedded).toBe(messages.length);
    expect(metrics.now.diversity).toBe(
      diversity(vectorsFrom(messages.map(({ text }) => floats(vectorOf(text))))),
    );
    // Every snapshot had the vectors of what it shows.
    for (const { embedded, active } of metrics.snapshots) expect(embedded).toBe(active);
    const calls = server.calls.length;
    expect(await home.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
    await home.close();
    rmSync(join(directory, 'rows'), { recursive: true, force: true });
    home = await openHome({ directory });
    const again = await home.queries.pools.metrics(await home.position(branch));
    expect({ ...again, position: null }).toEqual({ ...metrics, position: null });
    expect(server.calls).toHaveLength(calls);
  },
);

test('branches of a history share the vectors of their texts', async () => {
  const branch = await start();
  await run(branch, 1);
  const before = asked.length;
  const { branchId } = await home.submit({
    id: 'fork',
    ...branch,
    by: { actor: 'ann' },
    steps: [{ op: 'fork', name: 'probe' }],
  });
  const probe = branchRefOf(branch.history, branchId);
  answers = 0;
  await run(probe, 1);
  // It says what the first round said.
  expect(asked).toHaveLength(before);
  expect((await stored(probe)).get('said 1')).toEqual(floats(vectorOf('said 1')));
});

const FAILURES: readonly (readonly [string, ModelScript, string])[] = [
  ['fails', (_call, _n, outgoing) => sendJson(outgoing, 500, {}), 'E_MIND_FAILED'],
  ['hangs', () => undefined, 'E_MIND_TIMEOUT'],
  ['sends garbage', (_call, _n, outgoing) => void outgoing.end('<html>'), 'E_EMBEDDING_INVALID'],
  [
    'sends too few vectors',
    (_call, _n, outgoing) => sendJson(outgoing, 200, { data: [] }),
    'E_EMBEDDING_INVALID',
  ],
  [
    'sends NaN',
    ({ asked: body }, _n, outgoing) =>
      sendJson(outgoing, 200, {
        data: (body?.['input'] as string[]).map(() => ({ embedding: [1, 2, Number.NaN] })),
      }),
    'E_EMBEDDING_INVALID',
  ],
];

test.each(FAILURES)('an endpoint that %s starts no pool', async (_what, script, code) => {
  broken = script;
  await expect(start()).rejects.toMatchObject({ code });
  await expect(home.find('sea')).rejects.toMatchObject({ code: 'E_HISTORY_NOT_FOUND' });
  broken = null;
  await start();
});

const otherDimension: ModelScript = ({ asked: body }, _n, outgoing) =>
  sendJson(outgoing, 200, { data: (body?.['input'] as string[]).map(() => ({ embedding: [1, 2] })) });

test.each([...FAILURES, ['sends another dimension', otherDimension, 'E_EMBEDDING_INVALID']] as const)(
  'an endpoint that %s ends a run; the next one goes on, and asks no mind again',
  async (_what, script, code) => {
    const branch = await start();
    broken = script;
    const ended = await run(branch, 2);
    expect(ended).toMatchObject({ ended: 'failed', rounds: 0, added: 0, error: { code } });
    expect((await viewPool(home, branch)).messages).toHaveLength(SEEDS.length);
    expect(answers).toBe(1);
    broken = null;
    expect(await run(branch, 1)).toMatchObject({ ended: 'rounds', rounds: 1, added: 2 });
    expect(answers).toBe(1);
    expect([...(await stored(branch)).keys()]).toContain('said 1');
  },
);

test('an embedder that may not be asked here, and one that is none, are refused before anything is recorded', async () => {
  const refused = startPool(home, {
    id: 'start',
    name: 'sea',
    by: { actor: 'ann' },
    messages: SEEDS,
    settings: { embedder: embedder() },
    minds: {
      ...minds(),
      allow: (spec) => {
        throw new Error(`not ${spec}`);
      },
    },
  });
  await expect(refused).rejects.toThrow(`not ${embedder()}`);
  for (const name of ['nonsense', 'outside:', 'outside:a b', 'anthropic:m', 'offline'])
    await expect(start({ embedder: name })).rejects.toMatchObject({ code: 'E_EMBEDDER_INVALID' });
  await expect(home.find('sea')).rejects.toMatchObject({ code: 'E_HISTORY_NOT_FOUND' });
  expect(server.calls).toHaveLength(0);
});

test('what is looked for is asked for once nobody recorded its vector, and nothing is recorded', async () => {
  const branch = await start();
  const view = await viewPool(home, branch);
  const near = (text: string) => messagesNear(home, view, view.messages, { text, most: 1, minds: minds() });
  expect(await near('Nobody counts.')).toMatchObject([{ text: 'Nobody counts.', similarity: 1 }]);
  expect(asked).toHaveLength(3);
  const { seq } = await home.position(branch);
  await near('Something else');
  expect(asked.slice(3)).toEqual(['Something else']);
  expect((await home.position(branch)).seq).toBe(seq);
});

test('the messages of a pool that changes its embedder get their vectors on request', async () => {
  const branch = await start({ embedder: EMBEDDER });
  await expect(embedMissing(home, branch, { id: 'e', actor: 'ann', minds: minds() })).rejects.toMatchObject({
    code: 'E_EMBEDDER_INVALID',
  });
  await home.submit({
    id: 'set',
    ...branch,
    by: { actor: 'ann' },
    steps: [{ op: 'config', set: { embedder: embedder() } }],
  });
  const found = await embedMissing(home, branch, { id: 'e', actor: 'ann', notes: 'why', minds: minds() });
  expect(found).toMatchObject({ embedder: embedder(), dimension: 3, recorded: 3, known: 0, missing: 0 });
  const { interventions } = await home.queries.audit.interventions(branch);
  expect(interventions.at(-1)).toMatchObject({
    actor: 'ann',
    intervention_type: 'edit',
    notes: 'why',
    content: { commands: [{ op: 'record_vectors', embedder: embedder(), texts: 3 }] },
  });
  expect(await embedMissing(home, branch, { id: 'e', actor: 'ann', minds: minds() })).toMatchObject({
    recorded: 0,
    known: 3,
  });
  expect(asked).toHaveLength(3);
});

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const jsonl = (...rows: readonly object[]): Uint8Array =>
  encode(rows.map((row) => JSON.stringify(row)).join('\n'));

test('vectors from outside are those of messages, of numbers, of texts and of hashes; the first of a text counts', async () => {
  const branch = await start({ embedder: 'outside:mine' });
  expect(server.calls).toHaveLength(0);
  const [sea] = (await viewPool(home, branch)).messages;
  const bring = (id: string, bytes: Uint8Array, ids: Uint8Array | null = null) =>
    bringVectors(home, branch, { id, actor: 'ann', vectors: readBroughtVectors(bytes, ids) });
  const found = await bring(
    'one',
    jsonl({ message: sea?.id, vector: [1, 0.1] }, { vector_id: 1, embedding: [2, 0.2] }),
  );
  expect(found).toMatchObject({ embedder: 'outside:mine', dimension: 2, recorded: 2, known: 0, missing: 1 });
  const npy = npyBytes(
    vectorsFrom([
      [9, 9],
      [9, 9],
      [3, 0.3],
    ]),
    '<f4',
  );
  expect(await bring('two', npy)).toMatchObject({ recorded: 1, known: 2, missing: 0 });
  expect(await stored(branch)).toEqual(
    new Map([
      ['The sea keeps.', floats([1, 0.1])],
      ['Nobody counts.', floats([2, 0.2])],
      ['A door is open.', floats([3, 0.3])],
    ]),
  );
  await bring('three', npyBytes(vectorsFrom([[4, 4]]), '<f4'), encode(JSON.stringify(['ab'.repeat(32)])));
  await bring('four', jsonl({ text: 'to come', vector: [5, 5] }));
  const { seq } = await home.position(branch);
  const refusals: readonly (readonly [Uint8Array, string])[] = [
    [jsonl({ vector_id: 0, vector: [1, 2, 3] }, { text: 'new', vector: [1, 2, 3] }), 'E_VECTORS'],
    [jsonl({ vector_id: 77, vector: [1, 2] }), 'E_NODE_NOT_FOUND'],
    [jsonl({ message: 'nobody', vector: [1, 2] }), 'E_NODE_NOT_FOUND'],
    [jsonl({ text: 'new', vector: [1, 2] }, { text: 'new', vector: [2, 2] }), 'E_VECTORS'],
  ];
  for (const [i, [bytes, code]] of refusals.entries())
    await expect(bring(`refused ${i}`, bytes)).rejects.toMatchObject({ code });
  await expect(
    bringVectors(home, branch, { id: 'b', actor: 'ann', embedder: EMBEDDER, vectors: [] }),
  ).rejects.toMatchObject({ code: 'E_EMBEDDER_INVALID' });
  expect((await home.position(branch)).seq).toBe(seq);
  await expect(
    messagesNear(home, await viewPool(home, branch), [], { text: 'unknown', most: 1 }),
  ).rejects.toMatchObject({ code: 'E_EMBEDDER_INVALID' });
  expect(await home.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
});

test('vectors of another dimension than the first ones of their embedder are counted and not used', async () => {
  const branch = await start({ embedder: 'outside:mine' });
  const record = (id: string, text: string, numbers: readonly number[]) =>
    home.submit({
      id,
      ...branch,
      by: { recorder: 'test' },
      steps: [
        {
          op: 'record_vectors',
          embedder: 'outside:mine',
          dimension: numbers.length,
          texts: [text],
          vectors: Buffer.from(floats(numbers).buffer).toString('base64'),
        },
      ],
    });
  const hash = (digit: string): string => digit.repeat(64);
  await record('a', hash('a'), [1, 2]);
  await record('b', hash('b'), [1, 2, 3]);
  await record('c', hash('a'), [7, 8]);
  expect(await home.queries.pools.vectorsOf(branch.history, 'outside:mine', [hash('a'), hash('b')])).toEqual({
    dimension: 2,
    texts: 1,
    otherDimension: 1,
    vectors: [floats([1, 2]), null],
  });
  for (const [numbers, dimension, vectors] of [
    [[1, Number.NaN], 2, null],
    [[1, Number.POSITIVE_INFINITY], 2, null],
    [[1, 2], 3, null],
    [[1], 1, 'not base64!'],
    [[1], 1, 'AACAPw'],
  ] as const)
    await expect(
      home.submit({
        id: `refused ${String(numbers)} ${vectors}`,
        ...branch,
        by: { recorder: 'test' },
        steps: [
          {
            op: 'record_vectors',
            embedder: 'outside:mine',
            dimension,
            texts: [hash('d')],
            vectors: vectors ?? Buffer.from(floats(numbers).buffer).toString('base64'),
          },
        ],
      }),
    ).rejects.toMatchObject({ code: 'E_VECTORS' });
});
