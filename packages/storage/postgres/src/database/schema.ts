import { fail } from '@stemma/errors';
import { sqlStateOf } from './database-error.ts';
import type { Database, DatabaseSession } from './database.ts';

/** All rows go, and are built again from the log. As steps hold it, it never changes. */
const DROP_ROWS = `do $do$ declare each text; begin
     for each in select nspname from pg_namespace where nspname like 'stemma\\_rows\\_%' loop
       execute format('drop schema %I cascade', each);
     end loop;
   end $do$;
   delete from stemma.groups;
   delete from stemma.generations;`;

/** The steps that make the schema, from an empty database on. A released step never changes; their number is the schema's version. */
const STEPS: readonly string[] = [
  `create table stemma.contents (
     sha256 bytea primary key check (octet_length(sha256) = 32),
     size   integer not null check (size >= 0),
     bytes  bytea not null);
   comment on table stemma.contents is 'What messages and files hold, by the SHA-256 of its bytes.'`,
  `create table stemma.generations (
     number integer generated always as identity primary key,
     name   text collate "C" not null unique,
     shape  text not null);
   comment on table stemma.generations is
     'Rows of read models that are folded together: their tables lie in the schema stemma_rows_NUMBER.';
   create table stemma.cursors (
     generation integer not null references stemma.generations on delete cascade,
     partition  integer not null,
     cursor     bytea not null,
     primary key (generation, partition));
   comment on table stemma.cursors is 'How far a generation has come in each partition of the log.';
   create table stemma.groups (
     name        text collate "C" primary key,
     generation  text collate "C" not null,
     promoted_at timestamptz not null default now());
   comment on table stemma.groups is 'Which generation is the one that is read.'`,
  // Rows without checksums are not converted: they are built again from the log.
  `${DROP_ROWS}
   alter table stemma.generations add column checksum integer not null;
   alter table stemma.groups add column checksum integer not null;
   comment on column stemma.cursors.cursor is 'Its last four bytes are a checksum.'`,
  // Rows of which no table tells that their cursors are all there are built again, too.
  `${DROP_ROWS}
   create table stemma.started_partitions (
     generation integer not null references stemma.generations on delete cascade,
     partition  integer not null,
     checksum   integer not null,
     primary key (generation, partition));
   comment on table stemma.started_partitions is
     'The partitions of which a generation has rows: it has a cursor for each, or its rows are damaged.'`,
  `create table stemma.gateways (
     id      text collate "C" primary key,
     url     text not null,
     seen_at timestamptz not null default now());
   comment on table stemma.gateways is 'The gateways that send each other commands, and when each was last there.'`,
];

const VERSION_TABLE =
  'create table if not exists stemma.version (version integer not null, one boolean primary key default true check (one))';

const writeVersion = async (session: DatabaseSession): Promise<void> => {
  await session.query(
    `insert into stemma.version (version) values (${STEPS.length}) on conflict (one) do update set version = excluded.version`,
  );
};

/** The advisory lock of the process that makes or changes the schema; the number is arbitrary. */
const LOCK = 7_835_611_042;

/**
 * Makes the schema `stemma`, which holds everything that Stemma stores in a database, or brings it to this version.
 * Several processes may call it at the same time. It costs one query if there is nothing to do.
 *
 * @throws E_DATABASE_VERSION if a newer Stemma made the schema, and the codes of {@link Database}
 */
export const migrate = async (database: Database): Promise<void> => {
  const known = await versionOf(database);
  if (known === STEPS.length) return;
  // Tables of which no version tells were left over by somebody who dropped it.
  if (known === 0 && (await hasTables(database))) return mendSchema(database);
  await database.transaction('write', async (session) => {
    await session.query(`select pg_advisory_xact_lock(${LOCK})`);
    await session.query('create schema if not exists stemma');
    await session.query(VERSION_TABLE);
    const [row] = await session.query('select version from stemma.version');
    const version = Number(row?.[0] ?? 0);
    refuseNewer(version, database.name);
    for (const step of STEPS.slice(version)) await session.query(step);
    await writeVersion(session);
  });
};

/** What the last step leaves: the columns of each table, and which have a primary key. */
const COLUMNS: Readonly<Record<string, string>> = {
  contents: 'sha256 bytea, size integer, bytes bytea',
  generations: 'number integer, name text, shape text, checksum integer',
  cursors: 'generation integer, partition integer, cursor bytea',
  groups: 'name text, generation text, promoted_at timestamp with time zone, checksum integer',
  started_partitions: 'generation integer, partition integer, checksum integer',
  gateways: 'id text, url text, seen_at timestamp with time zone',
};

/**
 * Makes the schema again if somebody dropped or changed a part of it: all rows go, as they are built from the log; contents
 * stay, as they come from nowhere else. Several processes may call it at the same time.
 *
 * @throws the codes of {@link Database}
 */
export const mendSchema = async (database: Database): Promise<void> => {
  await database.transaction('write', async (session) => {
    await session.query(`select pg_advisory_xact_lock(${LOCK})`);
    const damaged = await damagedTables(session);
    if (damaged.length === 0) return;
    const keep = !damaged.includes('contents');
    await session.query('create schema if not exists stemma');
    if (keep) await session.query('alter table stemma.contents rename to kept_contents');
    await session.query(
      `do $do$ declare each text; begin
         for each in select nspname from pg_namespace where nspname like 'stemma\\_rows\\_%' loop
           execute format('drop schema %I cascade', each);
         end loop;
       end $do$`,
    );
    const tables = [...Object.keys(COLUMNS), 'version'].map((table) => `stemma.${table}`);
    await session.query(`drop table if exists ${tables.join(', ')} cascade`);
    await session.query(VERSION_TABLE);
    for (const step of STEPS) await session.query(step);
    if (keep)
      await session.query('drop table stemma.contents; alter table stemma.kept_contents rename to contents');
    await writeVersion(session);
  });
};

/** The tables that are not there, or not as the steps made them. */
const damagedTables = async (session: DatabaseSession): Promise<readonly string[]> => {
  const found = await session.query(
    `select c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, null), ', ' order by a.attnum)
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = 'stemma' and c.relkind = 'r'
       and exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p')
     group by c.relname`,
  );
  const columns = new Map(found.map(([table, text]) => [table, text]));
  return Object.entries(COLUMNS).flatMap(([table, text]) => (columns.get(table) === text ? [] : [table]));
};

/** The states of a statement on a table, column or key that is not there, or not what it was. */
const ALTERED: readonly string[] = [
  '42P01',
  '3F000',
  '42703',
  '42804',
  '42883',
  '42809',
  '42P10',
  '0A000',
  '23502',
  '23514',
];

/** True if the error says that somebody dropped or changed a table, whose statements fit those that Stemma made. */
export const isSchemaAltered = (error: unknown): boolean =>
  error instanceof Error && ALTERED.includes(sqlStateOf(error.cause));

/** The version of the schema in a database; 0 if it has none. */
const versionOf = async (database: Database): Promise<number> => {
  try {
    const version = await readVersion(database);
    refuseNewer(version, database.name);
    return version;
  } catch (error) {
    if (isSchemaAltered(error)) return 0;
    throw error;
  }
};

const hasTables = async (database: Database): Promise<boolean> => {
  const [found] = await database.query(
    `select to_regclass('stemma.contents'), to_regclass('stemma.generations')`,
  );
  return found?.some((table) => table !== null) === true;
};

const readVersion = async (session: DatabaseSession): Promise<number> => {
  const [row] = await session.query('select version from stemma.version');
  return Number(row?.[0] ?? 0);
};

const refuseNewer = (version: number, name: string): void => {
  if (version > STEPS.length)
    throw fail(
      'E_DATABASE_VERSION',
      `the database ${name} has version ${version} of the schema; this Stemma knows ${STEPS.length}`,
      { version, known: STEPS.length },
    );
};
