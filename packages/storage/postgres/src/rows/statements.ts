import type { Parameter } from '../database/database.ts';
import type { Bound, ColumnType, Key, KeyCell, KeyRange, Table } from '@stemma/row-store';
import { quoted, sqlType, writeCell } from './cells.ts';

export type Statement = { readonly text: string; readonly values: readonly Parameter[] };

export const schemaOf = (number: number): string => `stemma_rows_${number}`;

/** The column behind all others: the checksum of the row's bytes as lmdb would hold them. */
const CHECKSUM = quoted('row_checksum');

/** The names of the columns, the key's first. A table may have one name in its key and in its value: then it is `name_2`. */
export const columnsOf = ({ key, value }: Pick<Table, 'key' | 'value'>): string[] => {
  const names = new Set<string>();
  for (const [name] of [...key, ...value]) names.add(names.has(name) ? `${name}_2` : name);
  return [...names].map(quoted);
};

const keyOf = (table: Table): string[] => columnsOf(table).slice(0, table.key.length);

const nameOf = (number: number, table: Table): string => `${schemaOf(number)}.${quoted(table.name)}`;

/** The statements that make the tables of a generation, with comments that describe them. */
export const createTables = (number: number, tables: readonly Table[]): string =>
  [
    `create schema ${schemaOf(number)}`,
    createTextOf(number),
    ...tables.flatMap((table) => {
      const { key, value } = table;
      const types = [...key, ...value].map(([, type]) => type);
      const columns = columnsOf(table).map((column, i) => {
        const type = types[i] as ColumnType;
        return `${column} ${sqlType(type)}${type === 'text' ? ' collate "C"' : ''}${i < key.length ? ' not null' : ''}`;
      });
      const primary = `primary key (${keyOf(table).join(', ')})`;
      const name = nameOf(number, table);
      return [
        `create table ${name} (${[...columns, `${CHECKSUM} bigint not null`, primary].join(', ')})`,
        ...withoutStatistics(name, table),
        `comment on table ${name} is '${table.about.replaceAll("'", "''")}'`,
      ];
    }),
  ].join(';\n');

/**
 * A function for views: a text in `json` as a column has it. An escape that `json` keeps and a text refuses is written as in
 * cells.ts, U+0001 before U+0000; a backslash before it belongs to it if an even number of them comes first.
 */
const createTextOf = (number: number): string => {
  const escaped = (value: string, code: string, by: string): string =>
    String.raw`regexp_replace(${value}, '(?<!\\)((?:\\\\)*)\\u${code}', '\1\\u0001\\u${by}', 'g')`;
  return `create function ${schemaOf(number)}.text_of(value json) returns text language sql immutable strict parallel safe as $do$
    select case when strpos(value::text, '\\u000') = 0 then value #>> '{}'
      else ${escaped(escaped('value::text', '0001', '0002'), '0000', '0001')}::json #>> '{}' end $do$`;
};

/** Statistics hold values of rows, and stay in the catalogue when the table is gone. */
const withoutStatistics = (name: string, { key, value }: Table): readonly string[] => {
  const types = [...key, ...value].map(([, type]) => type);
  const columns = columnsOf({ key, value }).filter((_, i) =>
    ['text', 'bytes', 'json'].includes(types[i] as ColumnType),
  );
  const changes = columns.map((column) => `alter column ${column} set statistics 0`);
  return changes.length === 0 ? [] : [`alter table ${name} ${changes.join(', ')}`];
};

/** Selects the rows of a range, the cells of the key first, the checksum last. */
export const selectKeyRange = (number: number, keyRange: KeyRange): Statement => {
  const { table, low, high, reverse, limit } = keyRange;
  const values: Parameter[] = [];
  const parameter = (i: number, cell: KeyCell): string => {
    const [, type] = table.key[i] as Table['key'][number];
    values.push(writeCell(type, cell));
    return `$${values.length}::${sqlType(type)}`;
  };
  const key = keyOf(table);
  const same = sameCells(low.cells, high.cells);
  const conditions = key
    .slice(0, same)
    .map((name, i) => `${name} = ${parameter(i, low.cells[i] as KeyCell)}`);
  const bound = ({ cells }: Bound, operator: string): void => {
    if (cells.length <= same) return;
    const parameters = cells.slice(same).map((cell, i) => parameter(same + i, cell));
    conditions.push(`(${key.slice(same, cells.length).join(', ')}) ${operator} (${parameters.join(', ')})`);
  };
  bound(low, low.after ? '>' : '>=');
  bound(high, high.after ? '<=' : '<');
  const text = [
    `select ${[...columnsOf(table), CHECKSUM].join(', ')} from ${nameOf(number, table)}`,
    conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`,
    `order by ${key.map((name) => (reverse ? `${name} desc` : name)).join(', ')}`,
    limit === undefined ? '' : `limit $${values.push(limit)}::bigint`,
  ];
  return { text: text.join(' '), values };
};

/** Counts the rows of an owner. */
export const countRows = (number: number, table: Table, owner: KeyCell): Statement => {
  const [, type] = table.key[0] as Table['key'][number];
  const text = `select count(*) from ${nameOf(number, table)} where ${keyOf(table)[0]} = $1::${sqlType(type)}`;
  return { text, values: [writeCell(type, owner)] };
};

const sameCells = (a: Key, b: Key): number => {
  const differs = a.findIndex((cell, i) => !isSameCell(cell, b[i]));
  return differs === -1 ? a.length : differs;
};

const isSameCell = (a: KeyCell, b: KeyCell | undefined): boolean =>
  a instanceof Uint8Array ? b instanceof Uint8Array && Buffer.compare(a, b) === 0 : a === b;

/** Upserts rows, given as one array per column, the checksums last. */
export const upsertRows = (number: number, table: Table): string => {
  const columns = [...columnsOf(table), CHECKSUM];
  const key = keyOf(table).join(', ');
  const updates = columns.slice(table.key.length).map((column) => `${column} = excluded.${column}`);
  return `insert into ${nameOf(number, table)} (${columns.join(', ')})
    select * from ${unnested([...table.key, ...table.value, CHECKSUM_COLUMN])}
    on conflict (${key}) do update set ${updates.join(', ')}`;
};

/** Removes rows, their keys given as one array per column. */
export const deleteRows = (number: number, table: Table): string => {
  const same = keyOf(table).map((column, i) => `kept.${column} = gone.k${i}`);
  return `delete from ${nameOf(number, table)} as kept
    using ${unnested(table.key)} as gone (${table.key.map((_, i) => `k${i}`).join(', ')})
    where ${same.join(' and ')}`;
};

const CHECKSUM_COLUMN = ['row_checksum', 'uint'] as const;

const unnested = (columns: Table['value']): string =>
  `unnest(${columns.map(([, type], i) => `$${i + 1}::${sqlType(type)}[]`).join(', ')})`;
