import pg from 'pg';
import { randomBytes } from 'node:crypto';
import { sharedInRun } from '../shared-run.ts';
import { postgresFolder, startPostgres } from './postgres.ts';

/** The URL of a PostgreSQL server for tests, or the reason with which tests are skipped because there is none. */
export type FoundPostgres = { readonly url: string } | { readonly skip: string };

/**
 * Finds the PostgreSQL server that all tests of a run share; each test creates databases of its own on it. It is the one
 * at `STEMMA_TEST_POSTGRES` (a URL whose user may create databases), otherwise an installed one, which the first test that
 * needs it starts.
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

/** A database that only one test uses. */
export type FreshDatabase = { readonly url: string; readonly drop: () => Promise<void> };

/** Makes an empty database on a server. Dropping it closes the connections that are still open. */
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
