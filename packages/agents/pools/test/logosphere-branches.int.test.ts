import { npyBytes } from '@stemma/analysis';
import { branchRefOf } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportSession, importSession, readSession, runPool, type SessionFiles } from '../src/index.ts';

let directory: string;
let home: Home;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-logosphere-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const lines = (...texts: readonly string[]): Uint8Array => encode(texts.map((text) => `${text}\n`).join(''));

/** As Logosphere writes it: Python's spaces, its order of keys, an object of branches by name. */
const METADATA = lines(
  '{"branch": "main", "round": 0, "mind_id": -1, "vector_id": 0, "timestamp": "2026-01-10T12:50:00.000000+00:00", "injected": true, "text": ">>> The tide table is missing."}',
  '{"branch": "main", "round": 1, "mind_id": 0, "vector_id": 1, "timestamp": "2026-01-10T12:51:00.000000+00:00", "sampled_ids": [0], "text": "Tides can be asked of the harbour."}',
  '{"branch": "main", "round": 2, "mind_id": 0, "vector_id": 2, "timestamp": "2026-01-10T12:52:00.000000+00:00", "sampled_ids": [0, 1], "text": "The harbour answers in the morning."}',
  '{"branch": "dry", "round": 2, "mind_id": 0, "vector_id": 3, "timestamp": "2026-01-10T12:53:00.000000+00:00", "sampled_ids": [0], "text": "Without a table nobody leaves the pier."}',
  '{"branch": "main", "round": 3, "mind_id": 0, "vector_id": 4, "timestamp": "2026-01-10T12:54:00.000000+00:00", "sampled_ids": [1, 2], "text": "In the morning the boats go out."}',
);
const INTERVENTIONS = lines(
  '{"id": "000000000000", "timestamp": "2026-01-10T13:00:00.000000+00:00", "intervention_type": "message_inject", "snapshot_before": "main@0", "snapshot_after": "main@0", "content": {"text": "The tide table is missing.", "vector_id": 0}, "notes": ""}',
  '{"id": "000000000001", "timestamp": "2026-01-10T13:01:00.000000+00:00", "intervention_type": "run", "snapshot_before": "main@0", "snapshot_after": "main@1", "content": {"iterations": 1, "branch": "main", "end_iteration": 1}, "notes": "termination: completed"}',
  '{"id": "000000000002", "timestamp": "2026-01-10T13:02:00.000000+00:00", "intervention_type": "message_inject", "snapshot_before": "main@2", "snapshot_after": "main@2", "content": {"text": "The harbour answers in the morning.", "vector_id": 2}, "notes": "hook @ iteration 2"}',
  '{"id": "000000000003", "timestamp": "2026-01-10T13:03:00.000000+00:00", "intervention_type": "run", "snapshot_before": "main@1", "snapshot_after": "main@3", "content": {"iterations": 2, "branch": "main", "end_iteration": 3}, "notes": "termination: completed"}',
);
const BRANCHES = encode(
  JSON.stringify(
    {
      current: 'main',
      branches: {
        main: { name: 'main', parent: null, parent_iteration: null, iteration: 3, config: { hooks: [] } },
        dry: { name: 'dry', parent: 'main', parent_iteration: 1, iteration: 2, config: {} },
      },
    },
    null,
    2,
  ),
);
const EMBEDDINGS = npyBytes(
  { rows: 5, dimension: 2, values: Float64Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) },
  '<f4',
);
const SESSION: SessionFiles = {
  metadata: METADATA,
  embeddings: EMBEDDINGS,
  interventions: INTERVENTIONS,
  branches: BRANCHES,
};

const source = { format: 'logosphere', sha256: '0'.repeat(64) };

/** The files of the export of what was imported, as texts, but for the vectors. */
const exported = async (history: string) =>
  Object.fromEntries(
    (await exportSession(home, history)).files.map(({ path, bytes }) => [
      path,
      path.endsWith('.npy') ? bytes : new TextDecoder().decode(bytes),
    ]),
  );
const filesOf = ({ metadata, embeddings, interventions, branches, session }: SessionFiles) => {
  const text = (bytes: Uint8Array | null | undefined) => new TextDecoder().decode(bytes ?? undefined);
  return {
    'vector_db/metadata.jsonl': text(metadata),
    ...(embeddings === null ? {} : { 'vector_db/embeddings.npy': embeddings }),
    ...(interventions === null ? {} : { 'interventions.jsonl': text(interventions) }),
    ...(branches === null ? {} : { 'branches.json': text(branches) }),
    ...(session === undefined || session === null ? {} : { 'session.json': text(session) }),
  };
};

test(
  'a session whose branches are an object by name has its branches, messages, vectors and interventions with their positions, and its export the same bytes',
  { tags: ['pool§8.1', 'pool§8.4', 'pool:Interventions'] },
  async () => {
    const session = readSession(SESSION);
    expect(session.differences).toEqual([
      'interventions.jsonl injects message 2, which metadata.jsonl says a mind said',
    ]);
    const { history, ...counts } = await importSession(home, session, { name: 'tide', source });
    expect(counts).toMatchObject({ messages: 5, branches: 2, vectors: 5, interventions: 4 });
    const nodes = await home.branches.tree(history);
    expect(nodes.map(({ name, parent }) => [name, parent?.cycle ?? null])).toEqual([
      ['main', null],
      ['dry', 1],
    ]);
    const { interventions } = await home.queries.audit.interventions(branchRefOf(history, 0));
    expect(
      interventions.map(
        ({ intervention_type: type, notes, snapshot_before: before, snapshot_after: after }) => [
          type,
          notes,
          before,
          after,
        ],
      ),
    ).toEqual([
      ['message_inject', '', '@s2', '@s3'],
      ['run', 'termination: completed', '@s3', '@s5'],
      ['message_inject', 'hook @ iteration 2', '@s7', '@s8'],
      ['run', 'termination: completed', '@s5', '@s11'],
    ]);
    expect(interventions[3]?.content).toMatchObject({ rounds: 2, total_rounds_after: 3, end_iteration: 3 });
    expect(await exported(history)).toEqual(filesOf(SESSION));
    expect(await home.operations.verify()).toMatchObject({ ok: true });
    expect(await home.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
  },
);

test(
  'a session without branches keeps its session.json, its positions and its fields',
  { tags: ['pool§8.1', 'pool§8.4'] },
  async () => {
    const session: SessionFiles = {
      metadata: lines(
        '{"round": 0, "mind_id": -1, "vector_id": 0, "timestamp": "2026-01-14T08:00:00", "text": "Grüße vom Pier 🌊", "mood": {"b": 1, "a": [true, null]}}',
        '{"round": 1, "mind_id": 2, "vector_id": 1, "timestamp": "2026-01-14T08:01:00.5", "sampled_ids": [0], "text": "a \\"b\\"", "thinking": "long"}',
      ),
      embeddings: null,
      interventions: lines(
        '{"id":"x","timestamp":"2026-01-14T09:00:00","intervention_type":"hook_fired","snapshot_before":"iter_0","snapshot_after":"iter_1","content":{"z":1,"a":{"y":2,"b":3}},"notes":"n","actor":"ann"}',
      ),
      branches: null,
      session: encode(
        '{\n  "iteration": 1,\n  "config": {"K": 5}\n}\n'.replace('{"K": 5}', '{\n    "K": 5\n  }'),
      ),
    };
    const read = readSession(session);
    expect(read.differences).toEqual([]);
    expect(read.unknown).toEqual({ mood: 1, thinking: 1 });
    const { history } = await importSession(home, read, { name: 'line', source });
    expect(await exported(history)).toEqual(filesOf(session));
    const { interventions } = await home.queries.audit.interventions(branchRefOf(history, 0));
    expect(interventions).toMatchObject([
      { actor: 'ann', intervention_type: 'annotate', content: { z: 1, a: { y: 2, b: 3 } } },
    ]);
  },
);

test(
  'what came to a session after its import stands behind its lines, in the same layout',
  { tags: ['pool§8.4'] },
  async () => {
    const { history } = await importSession(home, readSession(SESSION), { name: 'tide', source });
    const tide = await home.find('tide');
    await home.submit({
      id: 'i',
      history,
      branchId: 0,
      by: { actor: 'bob' },
      notes: 'why',
      steps: [{ op: 'inject', text: 'Who asks?' }],
    });
    await runPool(home, tide, { rounds: 1, actor: 'ann' });
    await home.submit({
      id: 'f',
      history,
      branchId: 0,
      by: { actor: 'ann' },
      steps: [{ op: 'fork', name: 'later' }],
    });
    const files = await exported(history);
    const branches = JSON.parse(files['branches.json'] as string) as { branches: object };
    expect(branches).toEqual({
      current: 'main',
      branches: {
        main: { name: 'main', parent: null, parent_iteration: null, iteration: 4, config: { hooks: [] } },
        dry: { name: 'dry', parent: 'main', parent_iteration: 1, iteration: 2, config: {} },
        later: { name: 'later', parent: 'main', parent_iteration: 4, iteration: 4, config: {} },
      },
    });
    expect((files['interventions.jsonl'] as string).startsWith(new TextDecoder().decode(INTERVENTIONS))).toBe(
      true,
    );
    const encoded: SessionFiles = {
      metadata: encode(files['vector_db/metadata.jsonl'] as string),
      embeddings: files['vector_db/embeddings.npy'] as Uint8Array,
      interventions: encode(files['interventions.jsonl'] as string),
      branches: encode(files['branches.json'] as string),
    };
    const again = await importSession(home, readSession(encoded), { name: 'again', source });
    const { 'branches.json': _same, ...rest } = files;
    expect(await exported(again.history)).toMatchObject(rest);
  },
);

test(
  'names that no branch can have become names, and come back as they were',
  { tags: ['pool§8.1', 'pool§8.4'] },
  async () => {
    const row = (branch: string, vector: number) =>
      JSON.stringify({
        branch,
        round: vector,
        mind_id: 0,
        vector_id: vector,
        timestamp: 1,
        text: `t${vector}`,
      });
    const names = ['trunk', 'a b/c', '123', 'main', '*', 'x'.repeat(128)];
    const branches = Object.fromEntries(
      names.map((name) => [name, { name, parent: name === 'trunk' ? null : 'trunk', parent_iteration: 0 }]),
    );
    // An object lists keys that are numbers first, in every JSON that JavaScript reads.
    const session: SessionFiles = {
      metadata: lines(...names.map((name, i) => row(name, i))),
      embeddings: null,
      interventions: null,
      branches: encode(JSON.stringify({ branches, current: '*', other: 1 })),
    };
    const read = readSession(session);
    expect(read.differences).toEqual([]);
    const { history } = await importSession(home, read, { name: 'odd', source });
    expect(await exported(history)).toEqual(filesOf(session));
  },
);

test.each([
  ['branches that are a text', { branches: '{"branches": "main"}' }, 'E_INPUT_SHAPE'],
  ['branches that are null', { branches: '{"current": "main", "branches": null}' }, 'E_INPUT_SHAPE'],
  ['a branch that is a number', { branches: '{"branches": {"main": 7}}' }, 'E_INPUT_SHAPE'],
  ['a file that is cut off', { branches: '{"branches": {"main": {"name": "ma' }, 'E_INPUT_TRUNCATED'],
  ['an empty file', { branches: '' }, 'E_INPUT_TRUNCATED'],
  ['a branch twice', { branches: '{"branches": {"a": {}, "a": {}}}' }, 'E_INPUT_REPEATED_KEY'],
  [
    'branches in a circle',
    { branches: '{"branches": {"main": {}, "a": {"parent": "b"}, "b": {"parent": "a"}}}' },
    'E_INPUT_SHAPE',
  ],
  ['an iteration below 0', { branches: '{"branches": {"main": {"iteration": -1}}}' }, 'E_INPUT_SHAPE'],
  [
    'a configuration larger than a branch can have',
    { branches: JSON.stringify({ branches: { main: { config: { prompt: 'x'.repeat(40_000) } } } }) },
    'E_INPUT_TOO_LARGE',
  ],
  ['an intervention that is a list', { interventions: '[1]' }, 'E_INPUT_SHAPE'],
  [
    'an intervention that is nested without end',
    { interventions: `{"intervention_type":"run","content":{"a":${'['.repeat(250)}${']'.repeat(250)}}}` },
    'E_INPUT_TOO_DEEP',
  ],
  ['a session.json that is cut off', { session: '{"iteration":' }, 'E_INPUT_TRUNCATED'],
])(
  'a session with %s is refused with a code, and nothing of it is recorded',
  { tags: ['pool§8.3'] },
  (_what, files, code) => {
    const bytes = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, encode(text)]));
    expect(() => readSession({ ...SESSION, ...bytes })).toThrow(expect.objectContaining({ code }) as Error);
  },
);

test(
  'an actor or notes that Stemma cannot record are told, and the line comes back whole',
  { tags: ['pool§8.3'] },
  async () => {
    const session: SessionFiles = {
      ...SESSION,
      interventions: lines(
        '{"intervention_type": "annotation", "content": {}, "actor": " ", "notes": "bell \\u0007"}',
        '{"intervention_type": "message_inject", "content": {"vector_id": 99, "text": "x"}}',
        '{"intervention_type": "rollback", "snapshot_before": "dry@2", "snapshot_after": "dry@1", "content": {"to": "dry@1"}}',
      ),
    };
    const read = readSession(session);
    expect(read.differences).toHaveLength(4);
    const { history } = await importSession(home, read, { name: 'tide', source });
    expect((await exported(history))['interventions.jsonl']).toBe(
      new TextDecoder().decode(session.interventions ?? undefined),
    );
  },
);
