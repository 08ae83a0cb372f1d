import { isStemmaError } from '@stemma/errors';
import { openPostgresRowStore } from '@stemma/row-store-postgres';
import { openMemoryRowStore, type Generation, type Row, type RowStore } from '@stemma/row-store';
import { findPostgres, freshDatabase, postgresFolder, startPostgres } from '@stemma/test-kit';
import { describe, expect, it } from 'vitest';
import { openProjector, verifyReplay, type Projector } from '../src/index.ts';
import { allRows, logged, someRecorded } from './recorded.ts';

/** Tables by name, rows by key: stores have orders of their own. */
const sorted = async (generation: Generation): Promise<Record<string, Row[]>> => {
  const rows = await allRows(generation);
  const text = ({ key }: Row): string => JSON.stringify(key);
  for (const list of Object.values(rows)) list.sort((a, b) => (text(a) < text(b) ? -1 : 1));
  return rows;
};

describe('rows in PostgreSQL', () => {
  it('equal those folded in memory, also with two projectors at once, and a replay finds no difference [decision 0039]', async ({
    skip,
  }) => {
    const found = await findPostgres();
    if ('skip' in found) return skip(found.skip);
    const fresh = await freshDatabase(found.url);
    const stores: RowStore[] = [];
    try {
      const { log, contents } = await logged(someRecorded(4_711, 4, 40), 2);
      const open = async (frames: number): Promise<Projector> => {
        const store = await openPostgresRowStore(fresh.url);
        stores.push(store);
        return openProjector({ log, contents, store, limits: { frames } });
      };
      const [one, other] = [await open(7), await open(11)];
      await Promise.all([one.catchUp(), other.catchUp()]);
      const memory = openProjector({ log, contents, store: openMemoryRowStore() });
      await memory.catchUp();
      expect(await sorted(await one.generation())).toEqual(await sorted(await memory.generation()));
      const report = await verifyReplay(other, { scratch: () => openMemoryRowStore() });
      expect([report.differences, report.rows > 500]).toEqual([0, true]);
      await one.rebuild();
      expect(await sorted(await other.generation())).toEqual(await sorted(await memory.generation()));
    } finally {
      for (const store of stores) await store.close();
      await fresh.drop();
    }
  });

  it('equal a rebuild from the log however often the database is killed while the projector runs [record §5: heads]', async ({
    skip,
  }) => {
    if (postgresFolder() === undefined) return skip('no PostgreSQL here');
    const server = await startPostgres();
    const { log, contents } = await logged(someRecorded(815, 3, 60));
    let batches = 0;
    let killing: Promise<void> | undefined;
    const store = await openPostgresRowStore(server.url);
    try {
      const projector = openProjector({
        log,
        contents,
        store,
        limits: { frames: 1 },
        // Under its hands: the next batch finds nobody, or nobody who remembers it.
        stop: () => {
          if (++batches % 30 === 0) killing ??= server.stop('SIGKILL');
          return false;
        },
      });
      for (let kills = 0; ;) {
        try {
          await projector.catchUp();
          if (killing === undefined) break;
        } catch (error) {
          if (!isStemmaError(error, 'E_DATABASE_UNREACHABLE')) throw error;
        }
        if (killing === undefined) continue;
        await killing;
        await server.start();
        if (++kills < 4) killing = undefined;
        else batches = -Infinity;
        killing = undefined;
      }
      const memory = openProjector({ log, contents, store: openMemoryRowStore() });
      await memory.catchUp();
      expect(await sorted(await projector.generation())).toEqual(await sorted(await memory.generation()));
      expect(batches).toBe(-Infinity);
    } finally {
      await store.close();
      await server.remove();
    }
  });
});
