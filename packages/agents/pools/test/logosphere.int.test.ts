import { npyBytes, readNpy } from '@stemma/analysis';
import { branchRefOf } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  exportSession,
  importSession,
  readSession,
  runPool,
  startPool,
  viewPool,
  type ExportedSession,
  type SessionFiles,
} from '../src/index.ts';

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
const lines = (values: readonly object[]): Uint8Array =>
  encode(values.map((value) => `${JSON.stringify(value)}\n`).join(''));

/** A .npy file with any header. */
const npy = (header: string, data: Uint8Array = new Uint8Array()): Uint8Array =>
  new Uint8Array([
    0x93,
    ...encode('NUMPY'),
    1,
    0,
    header.length & 255,
    header.length >> 8,
    ...encode(header),
    ...data,
  ]);

const row = (vector_id: number, round: number, mind_id: number, text: string, more = {}) => ({
  round,
  mind_id,
  vector_id,
  timestamp: `2025-03-01T10:00:${String(vector_id).padStart(2, '0')}.25`,
  text,
  ...more,
});

const ROWS = [
  row(0, 0, -1, 'The sea keeps.'),
  row(1, 0, -1, 'Nobody counts.'),
  row(2, 0, -1, 'A door is open.'),
  row(3, 1, 0, 'Keeps nobody.', { sampled_ids: [1, 0] }),
  row(4, 1, 1, 'Open the sea.', { sampled_ids: [2, 0] }),
  row(5, 2, 0, 'Counts doors.', { sampled_ids: [3, 4] }),
  row(6, 2, 0, 'Is it reversible?', { branch: 'probe', mind_id: -1, injected: true }),
  row(7, 4, 1, 'The door keeps.', { sampled_ids: [5, 1] }),
  row(8, 3, 0, 'It is.', { branch: 'probe', sampled_ids: [6, 5] }),
  row(9, 3, 1, 'It is not.', { branch: 'deeper', sampled_ids: [6] }),
];

const vectorsFor = (count: number): Uint8Array =>
  npy(
    `{'descr': '<f4', 'fortran_order': False, 'shape': (${count}, 2), }\n`,
    new Uint8Array(new Float32Array(count * 2).fill(0.5).buffer),
  );

const SESSION: SessionFiles = {
  metadata: lines(ROWS),
  embeddings: vectorsFor(ROWS.length),
  interventions: lines([
    {
      id: 'a',
      timestamp: '2025-03-01T10:00:06',
      actor: 'ann',
      intervention_type: 'message_inject',
      content: { text: 'Is it reversible?', source: 'manual', vector_id: 6 },
      notes: 'the probe',
    },
    {
      id: 'b',
      timestamp: '2025-03-01T10:00:07',
      intervention_type: 'external_query',
      content: { question: 'What changed?', answer: 'All.', mind: 'm' },
      notes: '',
      branch: 'probe',
    },
    { id: 'c', timestamp: '2025-03-01T10:00:08', intervention_type: 'config_change', content: {} },
  ]),
  branches: encode(
    JSON.stringify([
      { name: 'deeper', parent: 'probe', parent_iteration: 2 },
      { name: 'probe', parent: 'main', parent_iteration: 2 },
    ]),
  ),
};

const source = { format: 'logosphere', sha256: '0'.repeat(64) };

const filesOf = ({ files }: ExportedSession): SessionFiles => {
  const named = (name: string): Uint8Array | null => files.find(({ path }) => path === name)?.bytes ?? null;
  return {
    metadata: named('vector_db/metadata.jsonl') as Uint8Array,
    embeddings: named('vector_db/embeddings.npy'),
    interventions: named('interventions.jsonl'),
    branches: named('branches.json'),
    session: named('session.json'),
  };
};

/** The hashes of all snapshots of all branches, by their order. */
const hashesOf = async (history: string): Promise<readonly unknown[]> =>
  Promise.all(
    (await home.branches.tree(history)).map(async ({ branchId }) =>
      (await home.read.snapshots(branchRefOf(history, branchId), { limit: 200 })).map(
        ({ cycle, treeHash, threadHash }) => [cycle, treeHash, threadHash],
      ),
    ),
  );

test(
  'a session becomes a pool: rounds are cycles, samples refer to what was shown, branches are branches, what came from outside is an intervention',
  { tags: ['pool:Formats', 'pool:One-model'] },
  async () => {
    const session = readSession(SESSION);
    expect(session.differences).toEqual([]);
    const imported = await importSession(home, session, { name: 'sea', source });
    expect(imported).toMatchObject({
      messages: 10,
      branches: 3,
      rounds: 4 + 1 + 1,
      interventions: 3,
    });
    const main = await viewPool(home, await home.find('sea'));
    expect(
      main.messages.map(({ vectorId, round, mindId, sampled }) => [vectorId, round, mindId, sampled]),
    ).toEqual([
      [0, 0, -1, 2],
      [1, 0, -1, 2],
      [2, 0, -1, 1],
      [3, 1, 0, 1],
      [4, 1, 1, 1],
      [5, 2, 0, 1],
      [7, 4, 1, 0],
    ]);
    expect(main.round).toBe(4);
    const probe = await viewPool(home, await home.find('sea:probe'));
    expect(probe.messages.map(({ vectorId }) => vectorId)).toEqual([0, 1, 2, 3, 4, 5, 6, 8]);
    const deeper = await viewPool(home, await home.find('sea:deeper'));
    expect(deeper.messages.map(({ vectorId }) => vectorId)).toEqual([0, 1, 2, 3, 4, 5, 6, 9]);
    const { interventions } = await home.queries.audit.interventions(await home.find('sea'));
    expect(interventions).toMatchObject([
      { actor: 'unknown', intervention_type: 'config_change', content: {} },
      {
        actor: 'ann',
        intervention_type: 'message_inject',
        notes: 'the probe',
        content: { text: 'Is it reversible?', vector_id: 6 },
      },
      { actor: 'unknown', intervention_type: 'external_query', content: { question: 'What changed?' } },
    ]);
    expect(await home.operations.verify()).toMatchObject({ ok: true });
    // It runs on as any pool does.
    expect(await runPool(home, await home.find('sea'), { rounds: 2, actor: 'ann' })).toMatchObject({
      round: 6,
    });
  },
);

test(
  'an export has the layout of a session, and its import the same trees',
  { tags: ['pool:Formats'] },
  async () => {
    await importSession(home, readSession(SESSION), { name: 'sea', source });
    const { history } = await home.find('sea');
    const exported = await exportSession(home, history);
    expect(exported).toMatchObject({ messages: 10, branches: 3 });
    const again = readSession(filesOf(exported));
    expect(again.differences).toEqual([]);
    expect(again.rows.map(({ at: _at, ...rest }) => rest)).toEqual(
      readSession(SESSION).rows.map(({ at: _at, ...rest }) => rest),
    );
    const second = await importSession(home, again, { name: 'again', source });
    expect(await hashesOf(second.history)).toEqual(await hashesOf(history));
    // And so on: the export of that is the same bytes.
    const twice = await exportSession(home, second.history);
    expect(twice.files[0]).toEqual(exported.files[0]);
    expect(twice.files[1]).toEqual(exported.files[1]);
    expect(twice.files[3]).toEqual(exported.files[3]);
  },
);

test(
  'the vectors of a session are recorded, measured by, and written back to the bit',
  { tags: ['pool§8.2', 'pool§8.4'] },
  async () => {
    const numbers = ROWS.flatMap((_, i) => [i + 1, 0.1 * i, -1 / (i + 1)]);
    const embeddings = npyBytes(
      { rows: ROWS.length, dimension: 3, values: Float64Array.from(numbers) },
      '<f4',
    );
    const session = readSession({ ...SESSION, embeddings });
    expect(session.differences).toEqual([]);
    const imported = await importSession(home, session, { name: 'sea', source });
    expect(imported.vectors).toBe(ROWS.length);
    const branch = await home.find('sea');
    const { embedder, snapshots } = await home.queries.pools.metrics(await home.position(branch));
    expect(embedder).toBe('outside:logosphere');
    expect(snapshots.length).toBeGreaterThan(0);
    for (const { embedded, active } of snapshots) expect(embedded).toBe(active);
    const exported = filesOf(await exportSession(home, branch.history));
    expect(exported.embeddings).toEqual(embeddings);
    expect(await home.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
  },
);

test('a row of zeros is no vector, and of two vectors of a text the first is recorded; the import says so', () => {
  const rows = [row(0, 0, -1, 'same'), row(1, 0, -1, 'other'), row(2, 1, 0, 'same'), row(3, 1, 0, 'same')];
  const values = Float64Array.from([1, 2, 0, 0, 3, 4, 1, 2]);
  const { vectors, differences } = readSession({
    ...SESSION,
    metadata: lines(rows),
    embeddings: npyBytes({ rows: 4, dimension: 2, values }, '<f4'),
    interventions: null,
    branches: null,
  });
  expect(vectors?.map(({ vector }) => [...vector])).toEqual([[1, 2]]);
  expect(differences).toEqual([
    'embeddings.npy has only zeros for message 1, which therefore has no vector',
    'messages 0 and 2 have the same text and other vectors: that of 0 is recorded',
  ]);
});

test(
  'a pool that ran here is exported with its branches, messages from outside and vectors, and comes back the same each time',
  { tags: ['pool:Formats'] },
  async () => {
    await startPool(home, {
      id: 's',
      name: 'own',
      by: { actor: 'ann' },
      messages: ['The sea keeps what it is given.', 'Nobody counts the stones.', 'Who samples the sampler?'],
      settings: { sample_size: 2, seed: 7 },
    });
    const own = await home.find('own');
    const { history } = own;
    await runPool(home, own, { rounds: 4, actor: 'ann' });
    await home.submit({
      id: 'f',
      history,
      branchId: 0,
      by: { actor: 'ann' },
      steps: [{ op: 'fork', name: 'probe' }],
    });
    const probe = await home.find('own:probe');
    await home.submit({
      id: 'i',
      history,
      branchId: probe.branchId,
      by: { actor: 'bob' },
      notes: 'why',
      steps: [{ op: 'inject', text: 'What if?' }],
    });
    await runPool(home, own, { rounds: 3, actor: 'ann' });
    await runPool(home, probe, { rounds: 3, actor: 'ann' });
    const exported = await exportSession(home, history);
    const vectors = readNpy(filesOf(exported).embeddings as Uint8Array);
    expect(vectors.rows).toBe(exported.messages);
    const session = readSession(filesOf(exported));
    expect(session.differences).toEqual([]);
    const first = await importSession(home, session, { name: 'first', source });
    const texts = async (name: string) =>
      (await viewPool(home, await home.find(name))).messages.map(({ text, round, mindId, sampled }) => [
        text,
        round ?? 4,
        mindId,
        sampled,
      ]);
    expect(await texts('first')).toEqual(await texts('own'));
    expect(await texts('first:probe')).toEqual(await texts('own:probe'));
    const second = await importSession(home, readSession(filesOf(await exportSession(home, first.history))), {
      name: 'second',
      source,
    });
    expect(await hashesOf(second.history)).toEqual(await hashesOf(first.history));
  },
);

test('where the files of a session contradict each other, it is said', { tags: ['pool:Formats'] }, () => {
  const { differences } = readSession({
    ...SESSION,
    metadata: lines([
      ...ROWS,
      row(30, 5, 0, 'Late.', { sampled_ids: [77] }),
      row(31, 5, -1, 'From where?', { injected: true }),
    ]),
    interventions: lines([
      { intervention_type: 'message_inject', content: { text: 'Another text', vector_id: 6 } },
      { intervention_type: 'message_inject', content: { text: 'x', vector_id: 99 } },
      { intervention_type: 'message_inject', content: { text: 'x', vector_id: 3 } },
    ]),
  });
  expect(differences).toEqual([
    'message 30 was shown message 77, which metadata.jsonl has not',
    'embeddings.npy has 10 rows, and metadata.jsonl 12',
    'embeddings.npy has no row 30, which metadata.jsonl names',
    'the text of message 6 differs between interventions.jsonl and metadata.jsonl',
    'interventions.jsonl injects message 99, which metadata.jsonl has not',
    'interventions.jsonl injects message 3, which metadata.jsonl says a mind said',
    'message 31 came from outside, and interventions.jsonl does not say by whom',
  ]);
});

const HUGE = `{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000), }\n`;
const LARGE = `{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1536), }\n`;
test.each([
  ['a huge shape', { embeddings: npy(HUGE) }, 'E_VECTORS'],
  ['more rows than bytes', { embeddings: npy(LARGE) }, 'E_VECTORS'],
  [
    'objects',
    { embeddings: npy(`{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }\n`, new Uint8Array(8)) },
    'E_VECTORS',
  ],
  [
    'a number that single precision cannot hold',
    { embeddings: npyBytes({ rows: 1, dimension: 1, values: Float64Array.of(1e40) }, '<f8') },
    'E_VECTORS',
  ],
  ['a file that is cut off', { embeddings: vectorsFor(10).subarray(0, 90) }, 'E_VECTORS'],
  [
    'NaN',
    {
      embeddings: npy(
        `{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }\n`,
        new Uint8Array(new Float32Array([Number.NaN]).buffer),
      ),
    },
    'E_VECTORS',
  ],
  ['code for Python', { embeddings: npy(`__import__('os').system('true')\n`) }, 'E_VECTORS'],
  ['no .npy at all', { embeddings: encode('PK') }, 'E_VECTORS'],
  ['no JSON', { metadata: encode('{"round": ') }, 'E_INPUT_TRUNCATED'],
  ['bytes that are no text', { metadata: new Uint8Array([0xff, 0xfe]) }, 'E_INPUT_ENCODING'],
  ['a round below 0', { metadata: lines([row(0, -1, 0, 'x')]) }, 'E_INPUT_SHAPE'],
  ['no text', { metadata: lines([{ ...row(0, 0, 0, 'x'), text: 7 }]) }, 'E_INPUT_SHAPE'],
  [
    'a time that is none',
    { metadata: lines([{ ...row(0, 0, 0, 'x'), timestamp: 'yesterday' }]) },
    'E_INPUT_SHAPE',
  ],
  ['a vector twice', { metadata: lines([row(0, 0, 0, 'x'), row(0, 0, 0, 'y')]) }, 'E_INPUT_SHAPE'],
  ['a branch of nothing', { metadata: lines([row(0, 0, 0, 'x', { branch: 'ghost' })]) }, 'E_INPUT_SHAPE'],
  [
    'branches in a circle',
    { branches: encode('[{"name":"a","parent":"b"},{"name":"b","parent":"a"}]') },
    'E_INPUT_SHAPE',
  ],
  ['a parent that there is not', { branches: encode('[{"name":"a","parent":"b"}]') }, 'E_INPUT_SHAPE'],
])('a session with %s is refused with a code', { tags: ['pool:Formats'] }, (_what, files, code) => {
  const given = {
    ...SESSION,
    ...files,
    ...('branches' in files ? { metadata: lines([row(0, 0, -1, 'x')]) } : {}),
  };
  expect(() => readSession(given)).toThrow(expect.objectContaining({ code }) as Error);
});

test(
  'rounds that a session only announces are no rounds to be made up for without end',
  { tags: ['pool:Formats'] },
  async () => {
    const session = readSession({
      metadata: lines([row(0, 0, -1, 'x'), row(1, 999_999, 0, 'y')]),
      embeddings: null,
      interventions: null,
      branches: null,
    });
    await expect(importSession(home, session, { name: 'far', source })).rejects.toMatchObject({
      code: 'E_INPUT_TOO_LARGE',
    });
    await expect(home.find('far')).rejects.toMatchObject({ code: 'E_HISTORY_NOT_FOUND' });
  },
);
