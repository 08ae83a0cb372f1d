import { describeContentStore } from '@stemma/contents/contract';
import { findPostgres, freshDatabase, type FreshDatabase } from '@stemma/test-kit';
import { describe, it } from 'vitest';
import { openDatabase, openPostgresContents } from '../src/index.ts';

const found = await findPostgres();

if ('skip' in found) describe('PostgreSQL', () => it('is a contents store', ({ skip }) => skip(found.skip)));
else {
  let fresh: FreshDatabase;
  describeContentStore('PostgreSQL', {
    create: async () => {
      fresh = await freshDatabase(found.url);
      return openPostgresContents(fresh.url);
    },
    reopen: () => openPostgresContents(fresh.url),
    alter: async ({ sha256 }, bytes) => {
      const database = openDatabase(fresh.url);
      const key = Buffer.from(sha256, 'hex');
      if (bytes === null) await database.query('delete from stemma.contents where sha256 = $1', [key]);
      else await database.query('update stemma.contents set bytes = $2 where sha256 = $1', [key, bytes]);
      await database.close();
    },
    destroy: () => fresh.drop(),
  });
}
