import { fail } from '@stemma/errors';
import { decodeBytea, type Database, type DatabaseSession } from '@stemma/postgres';
import { sameCursor, type Promotion, type Table } from '@stemma/row-store';
import { quoted } from './cells.ts';
import { columnsOf, createTables, schemaOf } from './statements.ts';

/* What the store knows of itself, in the schema `stemma`. */

/**
 * Exclusive for a change or drop of the current generation, shared for the first commit in a partition; an arbitrary
 * number.
 */
const LOCK = 7_835_611_043;
export const CHANNEL = 'stemma_rows';

/** A registered generation: its schema's number, its shape, and its cursors. */
export type RegisteredGeneration = {
  readonly number: number;
  readonly shape: string;
  readonly cursors: ReadonlyMap<number, Uint8Array>;
};

export const findGeneration = async (
  session: DatabaseSession,
  name: string,
): Promise<RegisteredGeneration | undefined> => {
  const rows = await session.query(
    `select g.number, g.shape, c.partition, c.cursor
     from stemma.generations g left join stemma.cursors c on c.generation = g.number where g.name = $1`,
    [name],
  );
  const [number, shape] = rows[0] ?? [];
  if (typeof number !== 'string' || typeof shape !== 'string') return undefined;
  const cursors = new Map<number, Uint8Array>();
  for (const [, , partition, cursor] of rows)
    if (typeof cursor === 'string') cursors.set(Number(partition), Uint8Array.from(decodeBytea(cursor)));
  return { number: Number(number), shape, cursors };
};

export const otherTables = (name: string): Error =>
  fail('E_ROWS_VERSION', `the generation ${name} was created with other tables`);

/** The number of a generation; registers it and makes its tables if it is new. @throws E_ROWS_VERSION */
export const registerGeneration = async (
  session: DatabaseSession,
  {
    name,
    shape,
    tables,
  }: { readonly name: string; readonly shape: string; readonly tables: readonly Table[] },
): Promise<number> => {
  const [made] = await session.query(
    'insert into stemma.generations (name, shape) values ($1, $2) on conflict (name) do nothing returning number',
    [name, shape],
  );
  if (made !== undefined) {
    await session.query(createTables(Number(made[0]), tables));
    return Number(made[0]);
  }
  const [known] = await session.query('select number, shape from stemma.generations where name = $1', [name]);
  if (known === undefined) throw cursorMoved(name);
  if (known[1] !== shape) throw otherTables(name);
  return Number(known[0]);
};

/**
 * Moves a cursor if it is the expected one, and notifies waiting processes. The first statement of a transaction: from
 * then on no other transaction can move the cursor.
 */
export const moveCursor = async (
  session: DatabaseSession,
  number: number,
  { partition, expected, cursor }: { partition: number; expected: Uint8Array | null; cursor: Uint8Array },
): Promise<boolean> => {
  const moves =
    expected === null
      ? `insert into stemma.cursors (generation, partition, cursor)
         select $1, $2, $3 from (select pg_advisory_xact_lock_shared(${LOCK})) as locked
         on conflict do nothing returning 1`
      : `update stemma.cursors set cursor = $3
         where generation = $1 and partition = $2 and cursor = $4 returning 1`;
  const rows = await session.query(
    `with moved as (${moves}) select pg_notify('${CHANNEL}', '') from moved`,
    expected === null ? [number, partition, cursor] : [number, partition, cursor, expected],
  );
  return rows.length > 0;
};

export const cursorMoved = (what: string): Error => fail('E_CURSOR_MOVED', `${what} has moved on`);

/** @throws E_CURSOR_MOVED */
export const promoteGeneration = async (database: Database, promotion: Promotion): Promise<void> => {
  const { group, from, to, unmoved } = promotion;
  await database.transaction('write', async (session) => {
    await session.query(`select pg_advisory_xact_lock(${LOCK})`);
    if ((await currentGeneration(session, group)) !== from)
      throw fail('E_CURSOR_MOVED', `${group} is at another generation`);
    for (const { generation, partition, cursor } of unmoved) {
      const [row] = await session.query(
        `select c.cursor from stemma.cursors c join stemma.generations g on g.number = c.generation
         where g.name = $1 and c.partition = $2 for update of c`,
        [generation, partition],
      );
      const current = typeof row?.[0] === 'string' ? decodeBytea(row[0]) : null;
      if (!sameCursor(current, cursor)) throw cursorMoved(generation);
    }
    await session.query(
      `insert into stemma.groups (name, generation) values ($1, $2)
       on conflict (name) do update set generation = excluded.generation, promoted_at = now()`,
      [group, to],
    );
    await session.query(`select pg_notify('${CHANNEL}', '')`);
  });
  await remakeViews(database);
};

export const currentGeneration = async (session: DatabaseSession, group: string): Promise<string | null> => {
  const [row] = await session.query('select generation from stemma.groups where name = $1', [group]);
  return row?.[0] ?? null;
};

/**
 * Removes a generation; false if there is none.
 *
 * @param current what happens to one that groups read: it is kept, or they have none then
 * @throws E_ROWS_VERSION if it is kept for that
 */
export const dropGeneration = async (
  database: Database,
  name: string,
  { current: whenCurrent }: { readonly current: 'refuse' | 'forget' },
): Promise<boolean> => {
  const dropped = await database.transaction('write', async (session) => {
    await session.query(`select pg_advisory_xact_lock(${LOCK})`);
    const current = await session.query(
      whenCurrent === 'refuse'
        ? 'select 1 from stemma.groups where generation = $1'
        : 'delete from stemma.groups where generation = $1',
      [name],
    );
    if (current.length > 0) throw fail('E_ROWS_VERSION', `the generation ${name} is being read`);
    const [row] = await session.query('delete from stemma.generations where name = $1 returning number', [
      name,
    ]);
    if (row === undefined) return false;
    await session.query(`drop schema if exists ${schemaOf(Number(row[0]))} cascade`);
    return true;
  });
  if (dropped) await remakeViews(database);
  return dropped;
};

/**
 * Makes views for people: `stemma.TABLE` shows that table of the current generation; if several have it, of the one
 * with the most tables, so that joined rows are mostly of one moment. A long query on a view must not delay a
 * promotion: then the next one makes the views.
 */
const remakeViews = async (database: Database): Promise<void> => {
  try {
    await database.transaction('write', async (session) => {
      await session.query("set local lock_timeout = '2s'");
      await session.query(`select pg_advisory_xact_lock(${LOCK})`);
      const current = await session.query(
        `select distinct g.number, g.shape from stemma.groups p join stemma.generations g on g.name = p.generation
         order by g.number desc`,
      );
      const generations = current
        .map(([number, shape]) => ({
          number: Number(number),
          tables: JSON.parse(shape ?? '[]') as Shape,
        }))
        .sort((a, b) => b.tables.length - a.tables.length);
      const views = new Map<string, { readonly number: number; readonly columns: readonly string[] }>();
      for (const { number, tables } of generations)
        for (const [table, key, value] of tables)
          if (!views.has(table)) views.set(table, { number, columns: columnsOf({ key, value }) });
      const old = await session.query("select viewname from pg_views where schemaname = 'stemma'");
      const statements = [
        ...old.flatMap(([name]) =>
          views.has(name ?? '') ? [] : [`drop view stemma.${quoted(name ?? '')} cascade`],
        ),
        ...[...views].map(([name, { number, columns }]) => makeView(name, number, columns)),
      ];
      if (statements.length > 0) await session.query(statements.join(';\n'));
    });
  } catch {
    return;
  }
};

/** What `shapeOf` writes. */
type Shape = readonly (readonly [name: string, key: Table['key'], value: Table['value']])[];

/** Replaces a view in place, so that views on it survive; makes it anew if its columns changed. Checksums are not for people. */
const makeView = (name: string, number: number, columns: readonly string[]): string => {
  const view = `stemma.${quoted(name)}`;
  const definition = `view ${view} as select ${columns.join(', ')} from ${schemaOf(number)}.${quoted(name)}`;
  return `do $do$ begin
    create or replace ${definition};
  exception when invalid_table_definition then
    drop view ${view} cascade;
    create ${definition};
  end $do$`;
};
