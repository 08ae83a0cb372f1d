import { canonicalJson, parseWideJson, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { decodeBytea, type Cells } from '../database/database.ts';
import type { Cell, ColumnType, KeyCell, Row, Table } from '@stemma/row-store';

/*
 * The types of cells in columns. Texts are ordered by code point (collation "C"). PostgreSQL accepts no U+0000, so
 * texts have U+0001 U+0001 for U+0000 and U+0001 U+0002 for U+0001, which keeps their order; in `json` it is an escape
 * anyway. `json`, not `jsonb`: `jsonb` refuses that escape and does not keep the text.
 */
const SQL_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'text',
  uint: 'bigint',
  int: 'bigint',
  number: 'double precision',
  wide: 'numeric(20)',
  bytes: 'bytea',
  bool: 'boolean',
  json: 'json',
};

export const sqlType = (type: ColumnType): string => SQL_TYPES[type];

/** `"name"` */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A cell as a text that PostgreSQL reads as a value of its column; null for its null. */
export const writeCell = (type: ColumnType, cell: Cell | undefined): string | null => {
  if (cell === null || cell === undefined) return null;
  if (type === 'json') return canonicalJson(cell as WideJson);
  if (typeof cell === 'string') return escapeText(cell);
  if (cell instanceof Uint8Array) return `\\x${hexOf(cell)}`;
  if (typeof cell === 'boolean') return cell ? 't' : 'f';
  if (typeof cell === 'number') return Object.is(cell, -0) ? '-0' : String(cell);
  if (typeof cell === 'bigint') return cell.toString();
  throw fail('E_INTERNAL', `a cell of type ${type} holds a list or an object`);
};

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

const escapeText = (text: string): string => {
  if (!text.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'a text holds an unpaired surrogate');
  return text.replace(/[\u0000\u0001]/g, (unit) => (unit === '\u0000' ? '\u0001\u0001' : '\u0001\u0002'));
};

const unescapeText = (text: string): string =>
  text.replace(/\u0001([\u0001\u0002])/g, (_, unit: string) => (unit === '\u0001' ? '\u0000' : '\u0001'));

const readCell = (type: ColumnType, text: string | null): Cell => {
  if (text === null) return null;
  switch (type) {
    case 'text':
      return unescapeText(text);
    case 'uint':
    case 'int':
    case 'number':
      return Number(text);
    case 'wide':
      return BigInt(text);
    case 'bytes':
      return Uint8Array.from(decodeBytea(text));
    case 'bool':
      return text === 't';
    case 'json':
      return parseWideJson(text, 'a cell of json');
  }
};

/** A row from its cells, the key's first. */
export const readRow = ({ key, value }: Table, cells: Cells): Row => ({
  key: key.map(([, type], i) => readCell(type, cells[i] ?? null) as KeyCell),
  value: value.map(([, type], i) => readCell(type, cells[key.length + i] ?? null)),
});

/** A column of many rows as one parameter: the text of an array. */
export const arrayOf = (type: ColumnType, cells: readonly (string | null)[]): string => {
  const bare = !['text', 'bytes', 'json'].includes(type);
  const items = cells.map((cell) =>
    cell === null ? 'NULL' : bare ? cell : `"${cell.replace(/[\\"]/g, '\\$&')}"`,
  );
  return `{${items.join(',')}}`;
};
