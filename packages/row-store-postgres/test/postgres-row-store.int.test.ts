import { openDatabase } from '@stemma/postgres';
import { describeRowStore } from '@stemma/row-store/contract';
import { findPostgres, freshDatabase } from '@stemma/test-kit';
import { afterAll, describe, it } from 'vitest';
import { openPostgresRowStore } from '../src/index.ts';

const found = await findPostgres();

if ('skip' in found)
  describe('rows in PostgreSQL', () => it('are rows of a store', ({ skip }) => skip(found.skip)));
else {
  const { url, drop } = await freshDatabase(found.url);
  const database = openDatabase(url);
  afterAll(async () => {
    await database.close();
    await drop();
  });
  describeRowStore(
    'PostgreSQL',
    () => ({
      open: () => openPostgresRowStore(url),
      another: () => openPostgresRowStore(url),
      async cleanUp() {
        const schemas = await database.query("select nspname from pg_namespace where nspname like 'stemma%'");
        for (const [name] of schemas) await database.query(`drop schema ${name ?? ''} cascade`);
      },
    }),
    { runs: 15 },
  );
}
