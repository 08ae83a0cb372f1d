import { isStemmaError, StemmaError } from '@stemma/errors';
import { type Cells, type Database, type DatabaseSession } from '../database/database.ts';
import { sqlStateOf } from '../database/database-error.ts';
import { isSchemaAltered } from '../database/schema.ts';
import {
  changesOf,
  rowsDamaged,
  shapeOf,
  type FetchedRows,
  type FetchRows,
  type RemoteGeneration,
  type RemoteState,
  type Row,
  type Table,
} from '@stemma/row-store';
import { readRow } from './cells.ts';
import { checksumOfRow } from './checksum-of-row.ts';
import { cursorMoved, findGeneration, moveCursor, otherTables, registerGeneration } from './registry.ts';
import { openRemovals } from './removals.ts';
import { countRows, selectKeyRange } from './statements.ts';
import { statementOf, writesOf } from './write-rows.ts';

/** The rows of one generation in a database. */
export const postgresRows = (
  database: Database,
  name: string,
  tables: readonly Table[],
): RemoteGeneration => {
  const shape = shapeOf(tables);
  /** The number of its schema, once known; another generation of this name has another. */
  let number: number | undefined;
  const removals = openRemovals(() => performance.now());

  const lookUp = async (session: DatabaseSession): Promise<RemoteState> => {
    const found = await findGeneration(session, name);
    if (found !== undefined && found.shape !== shape) throw otherTables(name);
    number = found?.number;
    if (found === undefined) return { cursors: new Map(), fetch: fetchNothing, count: async () => 0 };
    return {
      cursors: found.cursors,
      fetch: fetchFrom(session, name, found.number),
      removals: await removals(session, found.number),
      count: async (table, owner) => {
        const { text, values } = countRows(found.number, table, owner);
        const [[count] = []] = await session.query(text, values);
        return Number(count);
      },
    };
  };

  return {
    name,
    tables,
    state: (fn) =>
      notDropped(name, () => database.transaction('read', async (session) => fn(await lookUp(session)))),
    fetch: (keyRanges) =>
      notDropped(name, async () => {
        if (number === undefined) await lookUp(database);
        try {
          return await (number === undefined ? fetchNothing : fetchFrom(database, name, number))(keyRanges);
        } catch (error) {
          if (isGenerationDropped(error)) number = undefined;
          throw error;
        }
      }),
    async commit(batch) {
      const writes = writesOf(changesOf(tables, batch));
      try {
        number = await database.transaction('write', async (session) => {
          const at = number ?? (await registerGeneration(session, { name, shape, tables }));
          const moves = moveCursor(session, { number: at, name }, batch);
          // Sent without waiting for the answer before it: nothing of it stays if the cursor differs.
          const written = writes
            .map((write) => statementOf(at, write))
            .map(({ text, values }) => session.query(text, values));
          const [isMoved] = await Promise.all([moves, ...written]);
          if (!isMoved) throw cursorMoved(`partition ${batch.partition} of ${name}`);
          return at;
        });
      } catch (error) {
        number = undefined;
        if (isSchemaAltered(error) && (await isRegistered(database, name))) throw rowsAltered(name, error);
        throw isGenerationDropped(error) || isTransactionRollback(error) ? cursorMoved(name) : error;
      }
    },
  };
};

const fetchNothing: FetchRows = async (keyRanges) => keyRanges.map(() => ({ rows: [], bytes: 0 }));

const fetchFrom =
  (session: DatabaseSession, name: string, number: number): FetchRows =>
  (keyRanges) =>
    Promise.all(
      keyRanges.map(async (keyRange): Promise<FetchedRows> => {
        const { text, values } = selectKeyRange(number, keyRange);
        const rows = await session.query(text, values);
        let bytes = 0;
        for (const row of rows) for (const cell of row) bytes += cell?.length ?? 1;
        return { rows: rows.map((cells) => checkedRow(keyRange.table, name, cells)), bytes };
      }),
    );

/** @throws E_ROWS_DAMAGED */
const checkedRow = (table: Table, generation: string, cells: Cells): Row => {
  const row = readRow(table, cells);
  if (Number(cells.at(-1)) !== checksumOfRow(table, row.key, row.value))
    throw rowsDamaged(generation, table.name);
  return row;
};

/** The result of `read`; nothing if the generation was dropped meanwhile. @throws E_ROWS_DAMAGED */
const notDropped = async <T>(name: string, read: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (isGenerationDropped(error) && tries < 3) continue;
      throw isSchemaAltered(error) ? rowsAltered(name, error) : error;
    }
  }
};

/** True if the generation is known: what of it is missing, was dropped by somebody else. */
const isRegistered = async (database: Database, name: string): Promise<boolean> => {
  try {
    return (await findGeneration(database, name)) !== undefined;
  } catch (error) {
    if (isSchemaAltered(error)) return true;
    throw error;
  }
};

/** @param generation whose rows are to be built again; empty: all that the registry no longer knows of */
export const rowsAltered = (generation: string, cause: unknown): StemmaError =>
  new StemmaError(
    'E_ROWS_DAMAGED',
    'tables of the rows were dropped or changed in the database',
    { generation },
    { cause },
  );

const sqlState = (error: unknown): string => (isStemmaError(error) ? sqlStateOf(error.cause) : '');

/** True if the table or schema does not exist, or the registry no longer has the generation. */
const isGenerationDropped = (error: unknown): boolean =>
  ['42P01', '3F000', '23503'].includes(sqlState(error));

/** True for deadlocks and other conflicts with concurrent transactions. */
const isTransactionRollback = (error: unknown): boolean => sqlState(error).startsWith('40');
