import {
  ByteWriter,
  ParquetWriter,
  schemaFromColumnData,
  type BasicType,
  type ColumnSource,
} from 'hyparquet-writer';

/** What the cells of a column are: a text, an integer, a float, true or false, milliseconds since 1970. */
type Kind = 'text' | 'count' | 'number' | 'truth' | 'time';

/** The columns of a table, in their order. */
export type Columns = { readonly [name: string]: Kind };

export type ParquetCell = string | number | boolean | null;

const TYPES: Readonly<Record<Kind, BasicType>> = {
  text: 'STRING',
  count: 'INT64',
  number: 'DOUBLE',
  truth: 'BOOLEAN',
  time: 'TIMESTAMP',
};

/** Rows that are written together, and characters of them. */
const MOST = { rows: 10_000, chars: 8 * 1024 * 1024 };

/** The bytes of a table in Parquet; no more than one group of its rows is held. */
export async function* writeTable<Of extends Columns>(
  columns: Of,
  rows: AsyncIterable<{ readonly [name in keyof Of]: ParquetCell }>,
): AsyncGenerator<Uint8Array> {
  const bytes = new ByteWriter();
  const names: readonly (keyof Of & string)[] = Object.keys(columns);
  const schema = schemaFromColumnData({ columnData: columnsOf(columns, names, []) });
  const table = new ParquetWriter({ writer: bytes, schema, createdBy: 'stemma' });
  let group: { readonly [name in keyof Of]: ParquetCell }[] = [];
  let chars = 0;
  const writeGroup = async (): Promise<Uint8Array> => {
    await table.write({ columnData: columnsOf(columns, names, group), rowGroupSize: group.length });
    [group, chars] = [[], 0];
    return taken(bytes);
  };
  for await (const row of rows) {
    group.push(row);
    for (const name of names) {
      const cell = row[name];
      chars += typeof cell === 'string' ? cell.length : 8;
    }
    if (group.length >= MOST.rows || chars >= MOST.chars) yield await writeGroup();
  }
  if (group.length > 0) yield await writeGroup();
  await table.finish();
  yield taken(bytes);
}

/** What was written since, which leaves the buffer. */
const taken = (bytes: ByteWriter): Uint8Array => {
  const piece = bytes.getBytes().slice();
  bytes.index = 0;
  return piece;
};

const columnsOf = <Of extends Columns>(
  columns: Of,
  names: readonly (keyof Of & string)[],
  rows: readonly { readonly [name in keyof Of]: ParquetCell }[],
): ColumnSource[] =>
  names.map((name) => ({
    name,
    type: TYPES[columns[name] as Kind],
    data: rows.map((row) => valueOf(columns[name] as Kind, row[name])),
  }));

const valueOf = (kind: Kind, cell: ParquetCell): string | number | boolean | bigint | Date | undefined => {
  if (cell === null) return undefined;
  if (kind === 'count' && typeof cell === 'number') return BigInt(Math.trunc(cell));
  if (kind === 'time' && typeof cell === 'number') return new Date(cell);
  return cell;
};
