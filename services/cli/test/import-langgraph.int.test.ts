import { findPostgres, freshDatabase } from '@stemma/test-kit';
import { openDatabase } from '@stemma/postgres';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
const directory = join(folder.path, 'home');
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(directory);
const home = ['--home', directory];
const postgres = await findPostgres();

type Said = { readonly id: string; readonly role: 'Human' | 'AI'; readonly content: string };
type Checkpoint = { readonly id: string; readonly parent: string | null; readonly messages: readonly Said[] };

const [q1, a1, q2, a2, q3] = [
  { id: 'q1', role: 'Human', content: 'How deep?' },
  { id: 'a1', role: 'AI', content: '7 m' },
  { id: 'q2', role: 'Human', content: 'And wide?' },
  { id: 'a2', role: 'AI', content: '9 m' },
  { id: 'q3', role: 'Human', content: 'And long?' },
] as const satisfies readonly Said[];
const THREAD: readonly Checkpoint[] = [
  { id: '1', parent: null, messages: [q1] },
  { id: '2', parent: '1', messages: [q1, a1] },
  { id: '3', parent: '2', messages: [q1, a1, q2] },
  { id: '4', parent: '3', messages: [q1, a1, q2, a2] },
  { id: '5', parent: '2', messages: [q1, a1, q3] },
];

const written = ({ id, role, content }: Said) => ({
  ...{ lc: 1, type: 'constructor', id: ['langchain_core', 'messages', `${role}Message`] },
  kwargs: { id, content, ...(role === 'AI' && { response_metadata: { model_name: 'm' } }) },
});
const messagesOf = (checkpoint: Checkpoint) => checkpoint.messages.map(written);
const stateOf = (checkpoint: Checkpoint, channels: Record<string, unknown>) => ({
  ...{ v: 4, id: checkpoint.id, ts: `2026-09-01T10:00:0${checkpoint.id}Z`, channel_values: channels },
  channel_versions: { messages: Number(checkpoint.id) },
});

const TABLES = `
  CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
  CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL,
    idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));`;

const openSqlite = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; ${TABLES}`);
  return database;
};

const put = (database: DatabaseSync, thread: string, checkpoints: readonly Checkpoint[]): void => {
  const insert = database.prepare('INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const checkpoint of checkpoints) {
    const state = stateOf(checkpoint, { messages: messagesOf(checkpoint) });
    insert.run(
      thread,
      '',
      checkpoint.id,
      checkpoint.parent,
      'json',
      Buffer.from(JSON.stringify(state)),
      '{"source":"loop"}',
    );
  }
};

const inFolder = (name: string): string => {
  const path = join(folder.path, name);
  mkdirSync(path);
  return path;
};

const EXPECTED = {
  ...{ format: 'langgraph', conversations: 1, calls: 2, messages: 5, branches: 1, models: { m: 2 } },
  fidelity: { reconstructed: 2 },
};

it('a database of LangGraph becomes histories, with what stands in the log beside it, and goes on when it has grown', async () => {
  const own = inFolder('grown');
  const file = join(own, 'checkpoints.sqlite');
  const database = openSqlite(file);
  put(database, 'deep', THREAD.slice(0, 3));
  expect(readFileSync(`${file}-wal`).length).toBeGreaterThan(0);
  expect(await stemmaJson(['import', file, '--json', ...home])).toMatchObject({
    imported: [{ name: 'deep', title: 'deep', calls: 1, messages: 3, repeated: false }],
  });
  put(database, 'deep', THREAD.slice(3));
  database.close();
  expect(readdirSync(own)).toEqual(['checkpoints.sqlite']);
  const again = ['import', own, '--json', ...home];
  expect(await stemmaJson(again)).toMatchObject({
    imported: [{ ...EXPECTED, repeated: false }],
    refused: [],
  });
  expect(await stemmaJson(again)).toMatchObject({ imported: [{ ...EXPECTED, repeated: true }] });
  // Nothing is left beside it.
  expect(readdirSync(own)).toEqual(['checkpoints.sqlite']);
  const shown = await runStemma(['thread', 'deep', '--provider', 'openai', ...home]);
  expect(shown.stdout).toContain('And wide?');
  expect(shown.stdout).not.toContain('And long?');
});

it('another database may have a thread of the same name', async () => {
  const file = join(inFolder('other'), 'agent.db');
  const database = openSqlite(file);
  put(database, 'deep', [{ id: '0', parent: null, messages: [q3] }]);
  database.close();
  expect(await stemmaJson(['import', file, '--json', ...home])).toMatchObject({
    imported: [{ name: 'deep-2', calls: 0, messages: 1 }],
  });
});

it('a damaged or foreign database has a code, and the other files go on', async () => {
  const own = inFolder('damaged');
  const named = (name: string) => join(own, `${name}.sqlite`);
  const good = openSqlite(named('good'));
  put(good, 'good', THREAD);
  good.close();
  const bytes = readFileSync(named('good'));
  writeFileSync(named('cut'), bytes.subarray(0, 5000));
  writeFileSync(named('head'), Buffer.concat([bytes.subarray(0, 16), Buffer.alloc(5000, 7)]));
  copyFileSync(named('good'), named('columns'));
  for (const [name, sql] of [
    ['columns', 'ALTER TABLE checkpoints DROP COLUMN metadata'],
    ['tables', 'CREATE TABLE notes (text)'],
    ['view', 'CREATE VIEW checkpoints AS SELECT 1 AS thread_id; CREATE TABLE writes (a)'],
  ] as const) {
    const database = new DatabaseSync(named(name));
    database.exec(sql);
    database.close();
  }
  openSqlite(named('empty')).close();
  const answer = await runStemma(['import', own, '--json', '--dry-run', ...home]);
  const { imported, refused } = JSON.parse(answer.stdout) as {
    readonly imported: readonly unknown[];
    readonly refused: readonly { readonly file: string; readonly code: string }[];
  };
  expect(imported).toMatchObject([{ file: named('good'), ...EXPECTED }]);
  expect(refused.map(({ file, code }) => [file.slice(own.length + 1), code])).toEqual([
    ['columns.sqlite', 'E_INPUT_SHAPE'],
    ['cut.sqlite', 'E_INPUT_SHAPE'],
    ['empty.sqlite', 'E_INPUT_SHAPE'],
    ['head.sqlite', 'E_INPUT_SHAPE'],
    ['tables.sqlite', 'E_FORMAT_UNKNOWN'],
    ['view.sqlite', 'E_FORMAT_UNKNOWN'],
  ]);
});

it('a server of PostgreSQL is imported by its address, of which no secret is said', async ({ skip }) => {
  if ('skip' in postgres) return skip(postgres.skip);
  const fresh = await freshDatabase(postgres.url);
  const database = openDatabase(fresh.url);
  try {
    const address = new URL(fresh.url);
    address.password = 'secret-of-postgres';
    address.searchParams.set('sslmode', 'disable');
    const run = (...more: readonly string[]) =>
      runStemma(['import', address.href, '--json', ...more, ...home]);
    const none = await run();
    expect(none.stdout).toContain('E_FORMAT_UNKNOWN');
    for (const sql of [
      "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT DEFAULT '', checkpoint_id TEXT, parent_checkpoint_id TEXT, type TEXT, checkpoint JSONB, metadata JSONB)",
      "CREATE TABLE checkpoint_blobs (thread_id TEXT, checkpoint_ns TEXT DEFAULT '', channel TEXT, version TEXT, type TEXT, blob BYTEA)",
      'CREATE TABLE checkpoint_writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, task_id TEXT, idx INTEGER, channel TEXT, type TEXT, blob BYTEA)',
    ])
      await database.query(sql);
    for (const checkpoint of THREAD) {
      await database.query('INSERT INTO checkpoints VALUES ($1, $2, $3, $4, NULL, $5, $6)', [
        ...['row', '', checkpoint.id, checkpoint.parent, JSON.stringify(stateOf(checkpoint, {})), '{}'],
      ]);
      await database.query('INSERT INTO checkpoint_blobs VALUES ($1, $2, $3, $4, $5, $6)', [
        ...['row', '', 'messages', checkpoint.id, 'json'],
        Buffer.from(JSON.stringify(messagesOf(checkpoint))),
      ]);
    }
    const imported = await run();
    expect(JSON.parse(imported.stdout)).toMatchObject({
      imported: [{ file: `postgres://${address.host}${address.pathname}`, name: 'row', ...EXPECTED }],
    });
    for (const { stdout, stderr } of [none, imported])
      expect(stdout + stderr).not.toContain('secret-of-postgres');
  } finally {
    await database.close();
    await fresh.drop();
  }
});
