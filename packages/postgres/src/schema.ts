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

/** The advisory lock of the process that makes or changes the schema; the number is arbitrary. */
const LOCK = 7_835_611_042;

/**
 * Makes the schema `stemma`, which holds everything that Stemma stores in a database, or brings it to this version.
 * Several processes may call it at the same time. It costs one query if there is nothing to do.
 *
 * @throws E_DATABASE_VERSION if a newer Stemma made the schema, and the codes of {@link Database}
 */
export const migrate = async (database: Database): Promise<void> => {
  if ((await versionOf(database)) === STEPS.length) return;
  await database.transaction('write', async (session) => {
    await session.query(`select pg_advisory_xact_lock(${LOCK})`);
    await session.query('create schema if not exists stemma');
    await session.query(
      'create table if not exists stemma.version (version integer not null, one boolean primary key default true check (one))',
    );
    const [row] = await session.query('select version from stemma.version');
    const version = Number(row?.[0] ?? 0);
    refuseNewer(version, database.name);
    for (const step of STEPS.slice(version)) await session.query(step);
    await session.query(
      `insert into stemma.version (version) values (${STEPS.length}) on conflict (one) do update set version = excluded.version`,
    );
  });
};

/** The version of the schema in a database; 0 if it has none. */
const versionOf = async (database: Database): Promise<number> => {
  try {
    const version = await readVersion(database);
    refuseNewer(version, database.name);
    return version;
  } catch (error) {
    if (error instanceof Error && ['42P01', '3F000'].includes(sqlStateOf(error.cause))) return 0;
    throw error;
  }
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
