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
      async damage(damage) {
        const change = {
          bit: "text = 'h/1/c/1'",
          moved: '"from" = 9',
          truncated: "text = 'h/1/a/'",
        }[damage];
        await database.query(`update stemma_rows_1.things set ${change} where text = 'h/1/a/1'`);
      },
      async cleanUp() {
        const schemas = await database.query("select nspname from pg_namespace where nspname like 'stemma%'");
        for (const [name] of schemas) await database.query(`drop schema ${name ?? ''} cascade`);
      },
    }),
    { runs: 15 },
  );
}
