import pg from 'pg';
import { randomBytes } from 'node:crypto';
import { sharedInRun } from '../shared-run.ts';
import { postgresFolder, startPostgres } from './postgres.ts';

/** A PostgreSQL for tests, or why there is none: tests are then skipped with this reason. */
export type FoundPostgres = { readonly url: string } | { readonly skip: string };

/**
 * The PostgreSQL that all tests of this run share, each with databases of its own: `STEMMA_TEST_POSTGRES` (a URL whose user
 * may create databases), else one of the machine's, started by whoever needs it first.
 */
export const findPostgres = async (environment: NodeJS.ProcessEnv = process.env): Promise<FoundPostgres> => {
  const given = environment['STEMMA_TEST_POSTGRES'] ?? '';
  if (given !== '') return { url: given };
  if (postgresFolder(environment) === undefined)
    return { skip: 'no PostgreSQL here: set STEMMA_TEST_POSTGRES, or install postgresql' };
  try {
    return {
      url: await sharedInRun(
        'postgres',
        async () => {
          const { url, pid, folder } = await startPostgres({ detached: true });
          return { address: url, pid: pid(), folder };
        },
        environment,
      ),
    };
  } catch (error) {
    return { skip: `no PostgreSQL: ${error instanceof Error ? error.message : String(error)}` };
  }
};

/** A database of a test's own. */
export type FreshDatabase = { readonly url: string; readonly drop: () => Promise<void> };

/** Makes an empty database on a server. Dropping it ends who is still connected. */
export const freshDatabase = async (server: string): Promise<FreshDatabase> => {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOn(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => runOn(server, `drop database if exists ${name} with (force)`) };
};

const runOn = async (server: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};
