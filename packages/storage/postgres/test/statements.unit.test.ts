import { defineTable } from '@stemma/row-store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrayOf, quoted, readRow, sqlType, writeCell } from '../src/rows/cells.ts';
import { checksumOfRow } from '../src/rows/checksum-of-row.ts';
import {
  columnsOf,
  createTables,
  deleteRows,
  schemaOf,
  selectKeyRange,
  upsertRows,
} from '../src/rows/statements.ts';
import { statementOf, writesOf } from '../src/rows/write-rows.ts';

const THINGS = defineTable({
  name: 'thi"ngs',
  about: "what's there",
  key: [
    ['owner', 'text'],
    ['from', 'uint'],
    ['hash', 'bytes'],
  ],
  value: [
    ['from', 'int'],
    ['size', 'number'],
    ['wide', 'wide'],
    ['is', 'bool'],
    ['more', 'json'],
  ],
});

describe('cells', () => {
  it('have a type of column each', () => {
    const types = ['text', 'uint', 'int', 'number', 'wide', 'bytes', 'bool', 'json'] as const;
    expect(types.map(sqlType)).toEqual([
      'text',
      'bigint',
      'bigint',
      'double precision',
      'numeric(20)',
      'bytea',
      'boolean',
      'json',
    ]);
  });

  it('are read as they were written, missing ones as null', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '\u0000', '\u0001', '\u0002', '"', '\\', 'ü', '🏮'),
    });
    fc.assert(
      fc.property(
        fc.tuple(text, fc.nat(), fc.uint8Array({ maxLength: 6 })),
        fc.tuple(
          fc.option(fc.integer()),
          fc.option(fc.double({ noNaN: true })),
          fc.option(fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n })),
          fc.option(fc.boolean()),
          fc.option(fc.record({ b: fc.constant(1), a: text })),
        ),
        (key, value) => {
          const cells = [
            ...THINGS.key.map(([, type], i) => writeCell(type, key[i])),
            ...THINGS.value.map(([, type], i) => writeCell(type, value[i])),
          ];
          expect(readRow(THINGS, cells)).toEqual({ key, value });
          for (const cell of cells) expect(cell?.includes('\u0000') ?? false).toBe(false);
        },
      ),
    );
    expect(readRow(THINGS, ['', '0', '\\x']).value).toEqual([null, null, null, null, null]);
  });

  it('keep the order of texts, and are written as PostgreSQL reads them', () => {
    const texts = ['', '\u0000', '\u0000a', '\u0001', '\u0001a', '\u0002', 'a'];
    const written = texts.map((text) => writeCell('text', text) ?? '');
    expect(written.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(written);
    expect([
      writeCell('number', -0),
      writeCell('number', 0),
      writeCell('bool', true),
      writeCell('bool', false),
      writeCell('bytes', Uint8Array.of(0, 255).subarray(1)),
      writeCell('wide', 7n),
      writeCell('json', { b: 1, a: null }),
      writeCell('json', 'text'),
      writeCell('json', null),
      writeCell('text', undefined),
    ]).toEqual(['-0', '0', 't', 'f', '\\xff', '7', '{"a":null,"b":1}', '"text"', null, null]);
    expect(() => writeCell('text', '\ud800')).toThrow(
      expect.objectContaining({ code: 'E_INPUT_SURROGATE' }) as Error,
    );
    expect(() => writeCell('text', { a: 1 })).toThrow(
      expect.objectContaining({ code: 'E_INTERNAL' }) as Error,
    );
  });

  it('of many rows are one array, in which texts are quoted', () => {
    expect(arrayOf('uint', ['1', null, '3'])).toBe('{1,NULL,3}');
    expect(arrayOf('text', ['a', null, 'b"c\\d', 'NULL', ''])).toBe('{"a",NULL,"b\\"c\\\\d","NULL",""}');
    expect(arrayOf('bytes', ['\\xff'])).toBe('{"\\\\xff"}');
    expect(arrayOf('json', ['{"a":1}'])).toBe('{"{\\"a\\":1}"}');
    expect(arrayOf('bool', ['t', 'f'])).toBe('{t,f}');
    expect(quoted('a"b')).toBe('"a""b"');
  });
});

describe('statements', () => {
  it('name the columns of a table, the second of a name with a number', () => {
    expect(columnsOf(THINGS)).toEqual(
      ['owner', 'from', 'hash', 'from_2', 'size', 'wide', 'is', 'more'].map((name) => `"${name}"`),
    );
    expect(schemaOf(7)).toBe('stemma_rows_7');
  });

  it('make the tables of a generation with what they say', () => {
    const [schema, textOf, ...tables] = createTables(7, [THINGS]).split(';\n');
    expect(textOf).toMatch(/^create function stemma_rows_7\.text_of\(value json\) returns text /);
    expect([schema, ...tables]).toEqual([
      'create schema stemma_rows_7',
      'create table stemma_rows_7."thi""ngs" ("owner" text collate "C" not null, "from" bigint not null, ' +
        '"hash" bytea not null, "from_2" bigint, "size" double precision, "wide" numeric(20), "is" boolean, ' +
        '"more" json, "row_checksum" bigint not null, primary key ("owner", "from", "hash"))',
      'alter table stemma_rows_7."thi""ngs" alter column "owner" set statistics 0, ' +
        'alter column "hash" set statistics 0, alter column "more" set statistics 0',
      `comment on table stemma_rows_7."thi""ngs" is 'what''s there'`,
    ]);
  });

  it('select a range: what both bounds share is equal, the rest is compared', () => {
    const columns = [...columnsOf(THINGS), '"row_checksum"'].join(', ');
    const select = (range: Omit<Parameters<typeof selectKeyRange>[1], 'table'>): unknown[] => {
      const { text, values } = selectKeyRange(7, { ...range, table: THINGS });
      const [, rest = ''] = text.split(`select ${columns} from stemma_rows_7."thi""ngs"`);
      return [rest.trim(), values];
    };
    const bound = (after: boolean, ...cells: readonly (string | number | Uint8Array)[]) => ({ cells, after });
    expect(select({ low: bound(false), high: bound(true), reverse: false })).toEqual([
      'order by "owner", "from", "hash"',
      [],
    ]);
    expect(select({ low: bound(false, 'h'), high: bound(true, 'h'), reverse: true, limit: 3 })).toEqual([
      'where "owner" = $1::text order by "owner" desc, "from" desc, "hash" desc limit $2::bigint',
      ['h', 3],
    ]);
    expect(
      select({ low: bound(true, 'h', 3), high: bound(false, 'h', 9, Uint8Array.of(1)), reverse: false }),
    ).toEqual([
      'where "owner" = $1::text and ("from") > ($2::bigint) and ("from", "hash") < ($3::bigint, $4::bytea) ' +
        'order by "owner", "from", "hash"',
      ['h', '3', '9', '\\x01'],
    ]);
    const [low, high] = [bound(true, 'h', 3, Uint8Array.of(1)), bound(false, 'h', 9, Uint8Array.of(2))];
    expect(select({ low, high, reverse: false })).toEqual([
      'where "owner" = $1::text and ("from", "hash") > ($2::bigint, $3::bytea) and ("from", "hash") < ($4::bigint, $5::bytea) ' +
        'order by "owner", "from", "hash"',
      ['h', '3', '\\x01', '9', '\\x02'],
    ]);
    expect(select({ low: bound(false, 'h', 3), high: bound(true, 'h', 9), reverse: false })).toEqual([
      'where "owner" = $1::text and ("from") >= ($2::bigint) and ("from") <= ($3::bigint) ' +
        'order by "owner", "from", "hash"',
      ['h', '3', '9'],
    ]);
    const same = (): Uint8Array => Uint8Array.of(1, 2);
    expect(
      select({ low: bound(false, 'h', 3, same()), high: bound(true, 'h', 3, same()), reverse: false }),
    ).toEqual([
      'where "owner" = $1::text and "from" = $2::bigint and "hash" = $3::bytea order by "owner", "from", "hash"',
      ['h', '3', '\\x0102'],
    ]);
  });

  it('write and remove rows that are given as one array a column', () => {
    expect(upsertRows(7, THINGS).replaceAll(/\s+/g, ' ')).toBe(
      `insert into stemma_rows_7."thi""ngs" (${[...columnsOf(THINGS), '"row_checksum"'].join(', ')}) ` +
        'select * from unnest($1::text[], $2::bigint[], $3::bytea[], $4::bigint[], $5::double precision[], ' +
        '$6::numeric(20)[], $7::boolean[], $8::json[], $9::bigint[]) on conflict ("owner", "from", "hash") do update set ' +
        ['from_2', 'size', 'wide', 'is', 'more', 'row_checksum']
          .map((name) => `"${name}" = excluded."${name}"`)
          .join(', '),
    );
    expect(deleteRows(7, THINGS).replaceAll(/\s+/g, ' ')).toBe(
      'delete from stemma_rows_7."thi""ngs" as kept using unnest($1::text[], $2::bigint[], $3::bytea[]) ' +
        'as gone (k0, k1, k2) where kept."owner" = gone.k0 and kept."from" = gone.k1 and kept."hash" = gone.k2',
    );
  });
});

describe('the writes of a batch', () => {
  const NOTES = defineTable({ name: 'notes', about: '', key: [['n', 'uint']], value: [['text', 'text']] });
  const note = (n: number, text: string | null) => ({
    table: NOTES,
    key: [n],
    value: text === null ? null : [text],
  });
  const lengths = (values: readonly unknown[]): number => String(values[0]).slice(1, -1).split(',').length;

  it('are the last change of each key, removals first, table by table', () => {
    const key = ['h', 3, Uint8Array.of(1)];
    const writes = writesOf([
      note(1, 'a'),
      note(2, null),
      { table: THINGS, key, value: [1, 2, 3n, true, null] },
      note(1, 'b'),
      note(3, 'c'),
      note(3, null),
      note(2, 'd'),
    ]);
    expect(writes).toEqual([
      { table: NOTES, remove: true, values: ['{3}'] },
      {
        table: NOTES,
        remove: false,
        values: [
          '{1,2}',
          '{"b","d"}',
          `{${checksumOfRow(NOTES, [1], ['b'])},${checksumOfRow(NOTES, [2], ['d'])}}`,
        ],
      },
      {
        table: THINGS,
        remove: false,
        values: [
          '{"h"}',
          '{3}',
          '{"\\\\x01"}',
          '{1}',
          '{2}',
          '{3}',
          '{t}',
          '{NULL}',
          `{${checksumOfRow(THINGS, key, [1, 2, 3n, true, null])}}`,
        ],
      },
    ]);
    expect(writesOf([])).toEqual([]);
    for (const write of writes)
      expect(statementOf(7, write)).toEqual({
        text: write.remove ? deleteRows(7, write.table) : upsertRows(7, write.table),
        values: write.values,
      });
  });

  it.each([4_999, 5_000, 5_001, 12_000])('of %i rows have at most 5,000 each', (count) => {
    const all = Array.from({ length: count }, (_, n) => n);
    const full = Array.from({ length: Math.floor(count / 5_000) }, () => 5_000);
    const expected = count % 5_000 === 0 ? full : [...full, count % 5_000];
    expect(writesOf(all.map((n) => note(n, 'x'))).map(({ values }) => lengths(values))).toEqual(expected);
    expect(writesOf(all.map((n) => note(n, null))).map(({ values }) => lengths(values))).toEqual(expected);
  });

  it('end with the row whose cells reach eight mebibytes; a cell that is missing counts for four bytes', () => {
    const mebibyte = 1024 * 1024;
    // A key of one digit is one byte more.
    const texts = (length: number) => Array.from({ length: 9 }, (_, n) => note(n, 'x'.repeat(length)));
    const sizes = (length: number): number[] => writesOf(texts(length)).map(({ values }) => lengths(values));
    expect(sizes(mebibyte - 1)).toEqual([8, 1]);
    expect(sizes(mebibyte - 2)).toEqual([9]);
    const missing = (length: number) => [
      { table: NOTES, key: [1], value: ['x'.repeat(length)] },
      { table: NOTES, key: [2], value: [null] },
      note(3, ''),
    ];
    expect(writesOf(missing(8 * mebibyte - 6)).map(({ values }) => lengths(values))).toEqual([2, 1]);
    expect(writesOf(missing(8 * mebibyte - 7)).map(({ values }) => lengths(values))).toEqual([3]);
  });
});
