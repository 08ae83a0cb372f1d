import type { ReadModel } from '@stemma/read-models';
import type { Table } from '@stemma/row-store';

/** The part of docs/formats/rows.md that the schemas say: between its two marks. */
export const BEGIN = '<!-- generated from the schemas: begin -->';
export const END = '<!-- generated from the schemas: end -->';

const columns = (list: Table['key'] | Table['value']): string =>
  list.map(([name, type]) => `\`${name}\` ${type}`).join(', ');

const rowsOf = (tables: readonly Table[]): string =>
  [
    '| table | key | value | what a row says |',
    '|---|---|---|---|',
    ...tables.map(
      ({ name, key, value, about }) => `| \`${name}\` | ${columns(key)} | ${columns(value)} | ${about} |`,
    ),
  ].join('\n');

export const generatedPage = (records: readonly Table[], models: readonly ReadModel[]): string =>
  [
    `### What every reader keeps of the log's records\n\n${rowsOf(records)}`,
    ...models.map(({ name, version, tables }) => `### \`${name}@${version}\`\n\n${rowsOf(tables)}`),
  ].join('\n\n');
