import { defineTable } from '@stemma/row-store';
import { describeRowStore } from '@stemma/row-store/contract';
import { findPostgres, freshDatabase } from '@stemma/test-kit';
import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase, openPostgresRowStore } from '../src/index.ts';

/** Its view has the texts that stand in lists of another table too. */
const TEXTS = defineTable({
  name: 'texts',
  about: 'A text.',
  key: [
    ['owner', 'text'],
    ['text', 'text'],
  ],
  value: [],
  view: `select owner, text from $.texts
    union all select h.owner, $.text_of(i.item) collate "C" from $.holders h, json_array_elements(h.items) i (item)`,
});
const HOLDERS = defineTable({
  name: 'holders',
  about: 'Texts.',
  key: [['owner', 'text']],
  value: [['items', 'json']],
});

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

  it('say why a transaction failed, whichever of its statements is heard first', async () => {
    const failure = await database
      .transaction('write', async (session) => {
        const refused = session.query('select * from nowhere');
        refused.catch(() => undefined);
        await session.query('select 1');
      })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ detail: { state: '42P01' } });
  });

  it('give a text in a json cell to a view as a column has it, with characters that PostgreSQL refuses', async () => {
    const fresh = await freshDatabase(found.url);
    const other = openDatabase(fresh.url);
    const store = await openPostgresRowStore(other);
    const rows = await store.generation('test', [HOLDERS, TEXTS]);
    const units = ['a', '\u0000', '\u0001', '\u0002', '"', '\\', '\\u0000', 'ü', '🏮'];
    const texts = units.flatMap((x) => units.flatMap((y) => ['', ...units].map((z) => x + y + z)));
    await rows.commit({
      ...{ partition: 0, expected: null, cursor: Uint8Array.of(1) },
      changes: [
        { table: HOLDERS, key: ['h'], value: [texts] },
        ...texts.map((text) => ({ table: TEXTS, key: ['h', text], value: [] })),
      ],
    });
    await store.promote({ group: 'main', from: null, to: 'test', unmoved: [] });
    const seen = await other.query('select text, count(*) from stemma.texts group by text');
    const single = new Set(texts);
    expect(seen.length).toBe(single.size);
    const times = texts.length - single.size;
    expect(seen.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(2 * single.size + times);
    await store.close();
    await other.close();
    await fresh.drop();
  });
}
