import { openDatabase, type Database } from '../database/database.ts';
import { listenTo } from '../database/listen.ts';
import { isSchemaAltered, mendSchema, migrate } from '../database/schema.ts';
import { remoteGeneration, shapeOf, type RowStore } from '@stemma/row-store';
import { postgresRows, rowsAltered } from './postgres-rows.ts';
import {
  CHANNEL,
  currentGeneration,
  dropGeneration,
  findGeneration,
  otherTables,
  promoteGeneration,
} from './registry.ts';

const DISCARDED = 'stemma_discarded';
/** Milliseconds after which those who wait for discarded rows look in any case. */
const LOOK_AGAIN = 5_000;

/** A store on PostgreSQL, which can also wait for commits of other processes. */
export type PostgresRowStore = RowStore & Required<Pick<RowStore, 'changed' | 'discarded'>>;

/**
 * Rows in a database: a schema per generation, and views of the current ones in the schema `stemma`; all are made if
 * missing. As durable as the database's settings.
 *
 * @param url `postgres://…`, or an open database, which the caller closes
 * @throws E_USAGE, E_DATABASE_VERSION and the errors of {@link Database}; its methods too
 */
export const openPostgresRowStore = async (url: string | Database): Promise<PostgresRowStore> => {
  const database = typeof url === 'string' ? openDatabase(url) : url;
  const own = typeof url === 'string';
  try {
    await migrate(database);
  } catch (error) {
    if (own) await database.close();
    throw error;
  }
  const listener = listenTo(database, CHANNEL);
  const discards = listenTo(database, DISCARDED, LOOK_AGAIN);
  return {
    generation: (name, tables) =>
      knowing(name, async () => {
        const found = await findGeneration(database, name);
        if (found !== undefined && found.shape !== shapeOf(tables)) throw otherTables(name);
        return remoteGeneration(postgresRows(database, name, tables));
      }),
    current: (group) => knowing('', () => currentGeneration(database, group)),
    promote: (promotion) => knowing(promotion.to, () => promoteGeneration(database, promotion)),
    cursors: (name) =>
      knowing(
        name,
        async () => (await findGeneration(database, name))?.cursors ?? new Map<number, Uint8Array>(),
      ),
    generations: () =>
      knowing('', async () => {
        const rows = await database.query('select name from stemma.generations order by name');
        return rows.map(([name]) => name ?? '');
      }),
    drop: (name) =>
      knowing(name, async () => {
        await dropGeneration(database, name, { current: 'refuse' });
      }),
    async discard(name) {
      await mendSchema(database);
      const dropped = await dropGeneration(database, name, { current: 'forget' });
      await database.query(`notify ${DISCARDED}`);
      return dropped;
    },
    async destroy() {
      await mendSchema(database);
      const names = await database.query('select name from stemma.generations');
      // No name: what no generation has any more goes with it.
      for (const [name] of [...names, ['']])
        await dropGeneration(database, name ?? '', { current: 'forget' });
    },
    async bytes() {
      const [row] = await database.query(
        `select coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind = 'r' and n.nspname like 'stemma\\_rows\\_%'`,
      );
      return Number(row?.[0] ?? 0);
    },
    changed: (signal) => listener.notified(signal),
    discarded: (signal) => discards.notified(signal),
    async close() {
      await listener.close();
      await discards.close();
      if (own) await database.close();
    },
  };
};

/** What `work` gives. @throws E_ROWS_DAMAGED, which names the generation, if somebody dropped or changed tables */
const knowing = async <T>(generation: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw isSchemaAltered(error) ? rowsAltered(generation, error) : error;
  }
};
