import { fail } from '@stemma/errors';
import { decodeBytea, type Cells, type Database, type DatabaseSession } from '../database/database.ts';
import { sameCursor, type Promotion, type Table } from '@stemma/row-store';
import { quoted } from './cells.ts';
import {
  ownRecordDamaged,
  recordChecksum,
  sealCursor,
  startedChecksum,
  unsealCursor,
} from './registry-checksums.ts';
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

/** @throws E_ROWS_DAMAGED */
export const findGeneration = async (
  session: DatabaseSession,
  name: string,
): Promise<RegisteredGeneration | undefined> => {
  const rows = await session.query(
    `select g.number, g.shape, g.checksum, partition, cursor, started
     from stemma.generations g left join lateral (
       select partition, cursor, started
       from (select partition, cursor from stemma.cursors where generation = g.number) c full join
         (select partition, checksum as started from stemma.started_partitions where generation = g.number) s
         using (partition)
     ) known on true where g.name = $1`,
    [name],
  );
  if (rows[0] === undefined) return undefined;
  const registered = checkedGeneration(name, rows[0]);
  const cursors = new Map<number, Uint8Array>();
  for (const [, , , given, cursor, started] of rows) {
    if (given === null || given === undefined) continue;
    const partition = Number(given);
    if (typeof cursor !== 'string' || Number(started ?? NaN) !== startedChecksum(name, partition))
      throw ownRecordDamaged('cursors', name);
    cursors.set(partition, unsealCursor(name, partition, decodeBytea(cursor)));
  }
  return { ...registered, cursors };
};

/** @param cells number, shape, checksum. @throws E_ROWS_DAMAGED */
const checkedGeneration = (
  name: string,
  [number, shape, checksum]: Cells,
): Pick<RegisteredGeneration, 'number' | 'shape'> => {
  if (Number(checksum) !== recordChecksum('generations', [Number(number), name, shape ?? '']))
    throw ownRecordDamaged('generations', name);
  return { number: Number(number), shape: shape ?? '' };
};

export const otherTables = (name: string): Error =>
  fail('E_ROWS_VERSION', `the generation ${name} was created with other tables`);

/** The number of a generation; registers it and makes its tables if it is new. @throws E_ROWS_VERSION, E_ROWS_DAMAGED */
export const registerGeneration = async (
  session: DatabaseSession,
  {
    name,
    shape,
    tables,
  }: { readonly name: string; readonly shape: string; readonly tables: readonly Table[] },
): Promise<number> => {
  // Drawn before, because the checksum is also over the number. Numbers that are not used do no harm.
  const [drawn] = await session.query(
    "select nextval(pg_get_serial_sequence('stemma.generations', 'number'))",
  );
  const number = Number(drawn?.[0]);
  const made = await session.query(
    `insert into stemma.generations (number, name, shape, checksum) overriding system value
     values ($1, $2, $3, $4) on conflict (name) do nothing returning 1`,
    [number, name, shape, recordChecksum('generations', [number, name, shape])],
  );
  if (made.length > 0) {
    await session.query(createTables(number, tables));
    return number;
  }
  const [known] = await session.query(
    'select number, shape, checksum from stemma.generations where name = $1',
    [name],
  );
  if (known === undefined) throw cursorMoved(name);
  const registered = checkedGeneration(name, known);
  if (registered.shape !== shape) throw otherTables(name);
  return registered.number;
};

/**
 * Moves a cursor if it is the expected one, and notifies waiting processes. The first statement of a transaction: from
 * then on no other transaction can move the cursor.
 */
export const moveCursor = async (
  session: DatabaseSession,
  { number, name }: { readonly number: number; readonly name: string },
  { partition, expected, cursor }: { partition: number; expected: Uint8Array | null; cursor: Uint8Array },
): Promise<boolean> => {
  const sealed = sealCursor(name, partition, cursor);
  const moves =
    expected === null
      ? `insert into stemma.cursors (generation, partition, cursor)
         select $1, $2, $3 from (select pg_advisory_xact_lock_shared(${LOCK})) as locked
         on conflict do nothing returning 1), started as (
           insert into stemma.started_partitions (generation, partition, checksum)
           select $1, $2, $4 from moved`
      : `update stemma.cursors set cursor = $3
         where generation = $1 and partition = $2 and cursor = $4 returning 1`;
  const rows = await session.query(
    `with moved as (${moves}) select pg_notify('${CHANNEL}', '') from moved`,
    expected === null
      ? [number, partition, sealed, startedChecksum(name, partition)]
      : [number, partition, sealed, sealCursor(name, partition, expected)],
  );
  return rows.length > 0;
};

export const cursorMoved = (what: string): Error => fail('E_CURSOR_MOVED', `${what} has moved on`);

/** @throws E_CURSOR_MOVED, E_ROWS_DAMAGED */
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
      const current =
        typeof row?.[0] === 'string' ? unsealCursor(generation, partition, decodeBytea(row[0])) : null;
      if (!sameCursor(current, cursor)) throw cursorMoved(generation);
    }
    await session.query(
      `insert into stemma.groups (name, generation, checksum) values ($1, $2, $3)
       on conflict (name) do update
         set generation = excluded.generation, checksum = excluded.checksum, promoted_at = now()`,
      [group, to, recordChecksum('groups', [group, to])],
    );
    await session.query(`select pg_notify('${CHANNEL}', '')`);
  });
  await remakeViews(database);
};

/** @throws E_ROWS_DAMAGED, which names the generation that the group seems to have */
export const currentGeneration = async (session: DatabaseSession, group: string): Promise<string | null> => {
  const [row] = await session.query('select name, generation, checksum from stemma.groups where name = $1', [
    group,
  ]);
  if (row === undefined) return null;
  const generation = row[1] ?? '';
  if (!isWholeGroup(row)) throw ownRecordDamaged('groups', generation);
  return generation;
};

/** @param cells name, generation, checksum */
const isWholeGroup = ([name, generation, checksum]: Cells): boolean =>
  Number(checksum) === recordChecksum('groups', [name ?? '', generation ?? '']);

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
    const groups = await session.query(
      'select name, generation, checksum from stemma.groups where generation = $1',
      [name],
    );
    // A damaged group reads nothing.
    const readers = groups.filter(isWholeGroup);
    if (whenCurrent === 'refuse' && readers.length > 0)
      throw fail('E_ROWS_VERSION', `the generation ${name} is being read`);
    if (groups.length > 0) await session.query('delete from stemma.groups where generation = $1', [name]);
    const deleted = await session.query('delete from stemma.generations where name = $1 returning 1', [name]);
    // Not by the number in the record: if that is what is damaged, it may be another generation's.
    const unowned = await session.query(
      `select nspname from pg_namespace where nspname like 'stemma\\_rows\\_%' and nspname not in
         (select 'stemma_rows_' || number from stemma.generations)`,
    );
    for (const [schema] of unowned)
      await session.query(`drop schema if exists ${quoted(schema ?? '')} cascade`);
    return deleted.length > 0;
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
      const views = new Map<string, string>();
      for (const { number, tables } of generations)
        for (const [table, key, value, ...more] of tables)
          if (!views.has(table)) views.set(table, selectView(number, { name: table, key, value }, more));
      const old = await session.query("select viewname from pg_views where schemaname = 'stemma'");
      const statements = [
        ...old.flatMap(([name]) =>
          views.has(name ?? '') ? [] : [`drop view stemma.${quoted(name ?? '')} cascade`],
        ),
        ...[...views].map(([name, select]) => makeView(name, select)),
      ];
      if (statements.length > 0) await session.query(statements.join(';\n'));
    });
  } catch {
    return;
  }
};

/** What `shapeOf` writes. */
type Shape = readonly (readonly [
  name: string,
  key: Table['key'],
  value: Table['value'],
  ...more: readonly ShapeMore[],
])[];
type ShapeMore = 'packed' | { readonly view: string };

/** What a view selects: the columns of its table, or what the table says. Checksums are not for people. */
const selectView = (
  number: number,
  { name, key, value }: Pick<Table, 'name' | 'key' | 'value'>,
  more: readonly ShapeMore[],
): string => {
  for (const each of more)
    if (typeof each === 'object') return each.view.replaceAll('$', () => schemaOf(number));
  return `select ${columnsOf({ key, value }).join(', ')} from ${schemaOf(number)}.${quoted(name)}`;
};

/** Replaces a view in place, so that views on it survive; makes it anew if its columns changed. */
const makeView = (name: string, select: string): string => {
  const view = `stemma.${quoted(name)}`;
  const definition = `view ${view} as ${select}`;
  return `do $do$ begin
    create or replace ${definition};
  exception when invalid_table_definition then
    drop view ${view} cascade;
    create ${definition};
  end $do$`;
};
