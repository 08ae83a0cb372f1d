import { isStemmaError } from '@stemma/errors';
import { defineTable } from '@stemma/row-store';
import type { Generation } from '@stemma/row-store';
import { postgresFolder, startPostgres, type Postgres } from '@stemma/test-kit';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, openPostgresRowStore } from '../src/index.ts';

const COUNTS = defineTable({
  name: 'counts',
  about: '',
  key: [
    ['owner', 'text'],
    ['n', 'uint'],
  ],
  value: [['text', 'text']],
});
const bytes = (n: number): Uint8Array => Buffer.from(String(n));
const PARTITIONS = [0, 1, 2];

const none = postgresFolder() === undefined;

describe('a row store whose database fails', () => {
  let server: Postgres;
  beforeAll(async () => {
    if (!none) server = await startPostgres();
  });
  afterAll(async () => {
    if (!none) await server.remove();
  });

  it(
    'loses no acknowledged commit when it is killed or stopped under load, answers in time, and goes on by itself',
    { tags: ['record§5:heads'] },
    async ({ skip }) => {
      if (none) return skip('no PostgreSQL here');
      const database = openDatabase(server.url, { connect: 3_000, answer: 3_000 });
      const store = await openPostgresRowStore(database);
      const rows = await store.generation('g', [COUNTS]);
      const acknowledged = PARTITIONS.map(() => 0);
      const refused = PARTITIONS.map(() => 0);
      let slowest = 0;
      let working = true;

      /** One row more for each commit; after an error looks where the cursor stands, as a projector does. */
      const write = async (partition: number): Promise<void> => {
        while (working) {
          const since = performance.now();
          try {
            const stands = await rows.read((view) => view.cursor(partition));
            const n = stands === null ? 0 : Number(Buffer.from(stands));
            expect(n).toBeGreaterThanOrEqual(acknowledged[partition] ?? 0);
            await commit(rows, partition, stands, n + 1);
            acknowledged[partition] = n + 1;
          } catch (error) {
            if (!isStemmaError(error)) throw error;
            expect(['E_DATABASE_UNREACHABLE', 'E_CURSOR_MOVED']).toContain(error.code);
            refused[partition] = (refused[partition] ?? 0) + 1;
          }
          slowest = Math.max(slowest, performance.now() - since);
        }
      };
      const writers = PARTITIONS.map(write);
      const everybody = async (counts: readonly number[], more: number): Promise<void> => {
        const wanted = counts.map((count) => count + more);
        for (const end = performance.now() + 120_000; wanted.some((count, i) => (counts[i] ?? 0) < count);) {
          if (performance.now() > end) throw new Error('nothing moved for 120 s');
          await Promise.race([sleep(20), ...writers]);
        }
      };
      try {
        for (let round = 0; round < 3; round++) {
          await everybody(acknowledged, 10);
          await server.stop('SIGKILL');
          await everybody(refused, 1);
          await server.start();
        }
        await everybody(acknowledged, 10);
        const thaw = server.freeze();
        await everybody(refused, 1);
        thaw();
        await everybody(acknowledged, 10);
      } finally {
        working = false;
        await Promise.allSettled(writers);
      }
      await Promise.all(writers);
      const found = await rows.read((view) =>
        PARTITIONS.map((partition) => [
          Number(Buffer.from(view.cursor(partition) ?? [])),
          view.range(COUNTS, { prefix: [`p${partition}`] }).map(({ key }) => key[1]),
        ]),
      );
      for (const [i, [stands, keys]] of found.entries()) {
        expect(stands).toBeGreaterThanOrEqual(acknowledged[i] ?? 0);
        expect(keys).toEqual(Array.from({ length: Number(stands) }, (_, n) => n + 1));
      }
      // Two questions, each with a deadline for the connection and one for the answer.
      expect(slowest).toBeLessThan(60_000);
      await store.close();
      await database.close();
    },
  );
});

const commit = (rows: Generation, partition: number, expected: Uint8Array | null, n: number): Promise<void> =>
  rows.commit({
    partition,
    expected,
    cursor: bytes(n),
    changes: [{ table: COUNTS, key: [`p${partition}`, n], value: ['x'] }],
  });
