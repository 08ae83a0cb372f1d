import { compareCodePoints } from '@stemma/canonical';
import { openDirectoryContents } from '@stemma/contents';
import type { Step } from '@stemma/history';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { openDatabase, type Cells, type Database } from '@stemma/postgres';
import { openProjector } from '@stemma/projector';
import { openPostgresRowStore } from '@stemma/postgres';
import { findPostgres, freshDatabase } from '@stemma/test-kit';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallAttempt } from '@stemma/queries';
import { named, open, say, send, start, temporaryHome } from '@stemma/test-kit/home';
import type { Home } from '../src/index.ts';

const DOCS = join(import.meta.dirname, '../../../../docs');

/** The statement below a heading of docs/sql.md, with values for its variables. */
const documented = (heading: string, values: Readonly<Record<string, string | number>>): string => {
  const page = readFileSync(join(DOCS, 'sql.md'), 'utf8');
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [, statement = ''] = /```sql\n([^]*?)```/.exec(section) ?? [];
  return statement.replace(
    /(?<!:):('?)(\w+)\1/g,
    (_, quote: string, name: string) => `${quote}${values[name] ?? ''}${quote}`,
  );
};

const answersOf = async (home: Home) => {
  const branchRef = await home.find('pool');
  const calls = [];
  for (const ref of ['@c1', '@c2', '@c3']) {
    const { tree } = await home.read.view(await home.position(branchRef, ref));
    const blocks = tree.headers.filter(({ nodeType }) => nodeType === 'cb');
    calls.push(blocks.map(({ id }) => id).toSorted(compareCodePoints));
  }
  const interventions = [];
  for await (const { id, actor, notes } of home.queries.audit.eachIntervention(branchRef))
    interventions.push([id, actor, notes]);
  return {
    calls,
    interventions,
    snapshots: await home.read.snapshots(branchRef),
    histories: await home.read.histories(),
  };
};

/** Two attempts of one call: one is answered, of the other nobody knows. */
const callModel = async (home: Home): Promise<void> => {
  const branch = await home.find('other');
  const by = { recorder: 'test' };
  const messages = [{ role: 'user', content: 'Hi' }];
  const request = Buffer.from(JSON.stringify({ model: 'm', messages }));
  for (const id of ['a1', 'a2'])
    await home.calls.recordCall(branch, {
      ...{ id, by, messages },
      facts: { api: 'openai.chat', model: 'm', parameters: {}, tools: null, request },
    });
  await home.calls.finishCall(branch, {
    ...{ by, attemptId: 'a1', status: 'answered', httpStatus: 200, finishReason: 'stop', model: 'm-1' },
    usage: { input: 3, output: 4, cached: null, cacheWrite: null, reasoning: null },
    ...{ firstByteMs: 1, durationMs: 2, error: null, answer: null, response: null },
  });
};

const insertion = (id: string, ttl: number | null): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', role: 'user', content: '', ttl },
});

describe('the rows in PostgreSQL', async () => {
  const found = await findPostgres();
  if ('skip' in found) {
    it('answer SQL', ({ skip }) => skip(found.skip));
    return;
  }
  const fresh = await freshDatabase(found.url);
  const database: Database = openDatabase(fresh.url);
  let told: Awaited<ReturnType<typeof answersOf>> & { readonly attempts: readonly CallAttempt[] };
  const ask = (heading: string, values: Readonly<Record<string, string | number>> = {}): Promise<Cells[]> =>
    database.query(documented(heading, { history: named('pool'), branchId: 0, ...values }));

  beforeAll(async () => {
    using folder = temporaryHome();
    const home = await open(folder.directory);
    const act = (actor: string, id: string, notes: string, step: Step) =>
      home.submit({ id, history: named('pool'), branchId: 0, by: { actor }, notes, steps: [step] });
    const block = (id: string, content: string, ttl: number | null): Step => ({
      op: 'insert',
      parent: '^ah',
      node: { id, nodeType: 'cb', role: 'user', content, ttl },
    });
    await start(home, 'pool');
    await say(home, 'pool', 'one');
    await act('ana', 'short-1', 'it shall pass', block('short', 'only for a while', 1));
    await say(home, 'pool', 'two');
    await act('ben', 'edit-1', 'it’s better', block('long', 'for long', null));
    await say(home, 'pool', 'three');
    await act('ben', 'fork-1', '', { op: 'fork', name: 'side' });
    await start(home, 'other');
    await start(home, 'nodes');
    for (const [count, id] of [
      [3, 'few'],
      [70, 'many'],
    ] as const)
      await send(home, 'nodes', id, [
        ...Array.from({ length: count }, (_, i) => insertion(`${id}\u0000${i}`, i === 0 ? null : i)),
        { op: 'replace', id: `${id}\u00001`, set: { content: 'x' } },
        { op: 'commit' },
      ]);
    await callModel(home);
    told = {
      ...(await answersOf(home)),
      attempts: (await home.calls.list(await home.find('other'))).attempts,
    };
    await home.close();
    const log = await openEmbeddedLog({ directory: join(folder.directory, 'log') });
    const store = await openPostgresRowStore(database);
    const contents = await openDirectoryContents(join(folder.directory, 'contents'));
    await openProjector({ eager: 'all', log, contents, store }).catchUp();
    await store.close();
    await log.close();
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  it('give the blocks that each call showed', async () => {
    for (const [i, call] of told.calls.entries())
      expect((await ask('What one call showed', { cycle: i + 1 })).map(([id]) => id)).toEqual(call);
    expect(new Set(told.calls.map((call) => call.join(' '))).size).toBe(3);
  });

  it('give the size and the recorder of each call', async () => {
    const expected = told.snapshots.map(({ cycle, blocks }) => [String(cycle), String(blocks), 'test']);
    const rows = (await ask('Blocks by call')).map(([cycle, blocks, , by]) => [cycle, blocks, by]);
    expect(rows).toEqual(expected.toSorted(([a], [b]) => Number(a) - Number(b)));
  });

  it('give the interventions with actor and reason', async () => {
    const rows = await ask('Interventions, with who and why', { since: 0 });
    const listed = rows.map(([id, , actor, notes]) => [id, actor, notes ?? '']);
    expect(listed).toEqual(told.interventions.map(([id, actor, notes]) => [id, actor, notes ?? '']));
  });

  it('give what was asked of models', async () => {
    const rows = await ask('What was asked of models', { history: named('other') });
    expect(rows).toEqual(
      told.attempts.map(({ attemptId, cycle, model, status, usage, request, ...times }) => [
        ...[attemptId, String(cycle), model, status],
        ...[usage?.input, usage?.output, times.firstByteMs, times.durationMs].map((value) =>
          value == null ? null : String(value),
        ),
        request?.sha256,
      ]),
    );
    expect(told.attempts.map(({ status }) => status)).toEqual(['answered', 'unknown']);
  });

  it('give the longest histories', async () => {
    const rows = (await ask('The longest histories')).map(([history, name]) => [history, name]);
    expect(rows).toEqual([
      [named('nodes'), 'nodes'],
      [named('pool'), 'pool'],
      [named('other'), 'other'],
    ]);
    expect(rows.length).toBe(told.histories.length);
  });

  it('give the changes between two calls', async () => {
    const rows = await ask('What changed between two calls', { from: 1, to: 3 });
    const nodes = rows.filter(([, , what]) => what === 'insert').map(([, node, , , by]) => [node, by]);
    expect(nodes).toEqual(
      expect.arrayContaining([
        ['short', 'ana'],
        ['long', 'ben'],
      ]),
    );
    expect(nodes.length).toBe(4);
  });

  it('give every change of every node, however its row is kept', async () => {
    const events = await database.query(
      `select replace(node, E'\\x01\\x01', '-'), seq, "index", what, parent, cycle, seals, ttl, expires from stemma.timeline
       where history = '${named('nodes')}' and seq in (1, 2) order by seq, "index", node`,
    );
    const frame = (id: string, count: number, cycle: number) => [
      ...Array.from({ length: count }, (_, i) => [
        ...[`${id}-${i}`, cycle, i, 'insert', 'ah', cycle, cycle],
        ...(i === 0 ? [null, null] : [i, cycle + i + 1]),
      ]),
      [`${id}-1`, cycle, count, 'replace', null, cycle, null, null, null],
      [`t:0:${cycle}`, cycle, count + 1, 'seal', 'seq', cycle, null, null, null],
    ];
    const expected = [...frame('few', 3, 1), ...frame('many', 70, 2)];
    expect(events.map((row) => row.map(String))).toEqual(expected.map((row) => row.map(String)));
  });

  it('are listed in docs/sql-tables.md as the database has them', async () => {
    const columns = await database.query(
      `select v.relname, obj_description(t.oid), a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
       from pg_class v join pg_namespace n on n.oid = v.relnamespace and n.nspname = 'stemma' and v.relkind = 'v'
       join pg_class t on t.relname = v.relname join pg_namespace g on g.oid = t.relnamespace and g.nspname = 'stemma_rows_1'
       join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and a.attname <> 'row_checksum'
       order by v.relname collate "C", a.attnum`,
    );
    const lines = [
      '# The tables that SQL sees',
      '',
      'Which columns does each view have? ([sql.md](sql.md) has examples of queries.) Made from a database by `vitest -u`. Columns in bold are the key.',
    ];
    let last: string | null = null;
    for (const [table = null, about, column, type, key] of columns) {
      if (table !== last) lines.push('', `## ${table ?? ''}`, '', about ?? '', '');
      last = table;
      lines.push(`- ${key === 't' ? `**\`${column ?? ''}\`**` : `\`${column ?? ''}\``} ${type ?? ''}`);
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(DOCS, 'sql-tables.md'));
  });
});
