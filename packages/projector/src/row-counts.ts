import { fail } from '@stemma/errors';
import { COUNTED_TABLES } from '@stemma/history-store';
import type { ReadModel } from '@stemma/read-models';
import {
  compareCells,
  defineTable,
  keyText,
  typedRows,
  type CellReader,
  type GenerationView,
  type Key,
  type Range,
  type RowReader,
  type Rows,
  type Scan,
  type Table,
  type Value,
} from '@stemma/row-store';

/*
 * The checksum of a row says that it is what was written, not that it is there. So folds count, and readers compare.
 */

export const ROW_COUNTS = defineTable({
  name: 'row_counts',
  about: 'How many rows a table has of a history, by which missing ones are noticed.',
  key: [
    ['history', 'text'],
    ['table', 'text'],
  ],
  value: [['rows', 'uint']],
});

/** Whether the rows of a table are counted: those of read models, and those of the history store that nothing else vouches for. */
export type IsCounted = (table: Table) => boolean;

/** @param models all that are folded, with every frame or on demand */
export const countedAmong = (models: readonly ReadModel[]): IsCounted => {
  const names = new Set(countableOf(models).map(({ name }) => name));
  return ({ name }) => names.has(name);
};

const countableOf = (models: readonly ReadModel[]): readonly Table[] =>
  [...COUNTED_TABLES, ...models.flatMap(({ tables }) => tables)].filter(
    (table) => historyColumn(table) !== -1,
  );

const historyColumn = ({ key }: Table): number => key.findIndex(([name]) => name === 'history');

/** Rows as a fold of one frame writes them; `finish` adds to the counts what came. */
export type CountingRows = { readonly rows: Rows; finish(): void };

/** What a frame adds to a table: rows by their number, and by their keys those that can only be new. */
type Added = { rows: number; readonly fresh: Key[] };

/** Counts the rows that the fold of a frame adds. */
export const countingRows = (
  staged: Rows,
  history: string,
  seq: number,
  isCounted: IsCounted,
): CountingRows => {
  const added = new Map<Table, Added | null>();
  const cells = staged as CellReader & Pick<CellWriter, 'put' | 'remove'>;
  /** Null: the rows of the table are not counted. */
  const addedTo = (table: Table): Added | null => {
    let known = added.get(table);
    if (known === undefined) added.set(table, (known = isCounted(table) ? { rows: 0, fresh: [] } : null));
    return known;
  };
  const rows: CellReader & CellWriter = {
    get: (table, key) => cells.get(table, key),
    range: (table, range) => cells.range(table, range),
    put(table, key, value) {
      const known = addedTo(table);
      if (known !== null) {
        // No row of an earlier frame has the number of this one.
        if (key[frameColumn(table)] === seq) known.fresh.push(key);
        else if (cells.get(table, key) === undefined) known.rows++;
      }
      cells.put(table, key, value);
    },
    remove(table, key) {
      const known = addedTo(table);
      if (known !== null && cells.get(table, key) !== undefined) {
        const others = known.fresh.filter((each) => !sameKey(each, key));
        if (others.length === known.fresh.length) known.rows--;
        else known.fresh.splice(0, Infinity, ...others);
      }
      cells.remove(table, key);
    },
  };
  return {
    rows: typedRows(rows) as unknown as Rows,
    finish() {
      for (const [table, known] of added) {
        const more = known === null ? 0 : known.rows + distinctKeys(table, known.fresh);
        if (more !== 0)
          staged.put(ROW_COUNTS, [history, table.name], [readCount(staged, history, table.name) + more]);
      }
    },
  };
};

/** So few keys are compared with each other faster than they become texts. */
const FEW_KEYS = 8;

const distinctKeys = (table: Table, keys: readonly Key[]): number => {
  if (keys.length > FEW_KEYS) return new Set(keys.map((key) => keyText(table, key))).size;
  let count = 0;
  for (let i = 0; i < keys.length; i++) {
    let j = 0;
    while (j < i && !sameKey(keys[j] as Key, keys[i] as Key)) j++;
    if (j === i) count++;
  }
  return count;
};

/** Bytes are compared as bytes. The last cells differ most often. */
const sameKey = (a: Key, b: Key): boolean => {
  for (let i = a.length - 1; i >= 0; i--) {
    const [one, other] = [a[i] as Key[number], b[i] as Key[number]];
    if (one !== other && (typeof one !== 'object' || compareCells(one, other) !== 0)) return false;
  }
  return true;
};

type CellWriter = {
  put(table: Table, key: Key, value: Value): void;
  remove(table: Table, key: Key): void;
};

const frameColumns = new WeakMap<Table, number>();
/** The column of a key that has the number of the frame that wrote the row; -1: there is none. */
const frameColumn = (table: Table): number => {
  let column = frameColumns.get(table);
  if (column === undefined) {
    column = table.key.findIndex(([name]) => name === 'seq' || name === 'from');
    frameColumns.set(table, column);
  }
  return column;
};

const readCount = (rows: RowReader, history: string, table: string): number =>
  rows.get(ROW_COUNTS, [history, table])?.[0] ?? 0;

/** So many rows are counted whenever somebody reads; more of them after this many milliseconds again. */
const FEW = 64;
const COUNTED_FOR = 60_000;
/** Counts that a process keeps in mind. */
const MOST_KNOWN = 20_000;

/** The same view, whose lists and gaps are believed only if as many rows are there as were written. */
export type CountCheck = (view: GenerationView, generation: string) => GenerationView;

export const openCountCheck = (isCounted: IsCounted, now: () => number): CountCheck => {
  const countedAt = new Map<string, number>();
  return (view, generation) => {
    const known = new Set<string>();
    const cells: CellReader = view;
    /** The history whose rows of a table are counted; undefined: they are not. */
    const countedOf = (table: Table, [history]: Key): string | undefined =>
      typeof history === 'string' && isCounted(table) && historyColumn(table) === 0 ? history : undefined;
    const check = (table: Table, history: string): void => {
      const name = `${generation} ${table.name} ${history}`;
      if (known.has(name)) return;
      const at = countedAt.get(name);
      const isRecent = at !== undefined && now() - at < COUNTED_FOR;
      const written = readCount(view, history, table.name);
      if (!isRecent || written <= FEW) {
        if (view.count(table, history) !== written) throw rowsMissing(table.name, history, generation);
        if (countedAt.size >= MOST_KNOWN) countedAt.clear();
        if (!isRecent) countedAt.set(name, now());
      }
      known.add(name);
    };
    return typedRows<CellReader & Omit<GenerationView, keyof CellReader>>({
      get(table, key) {
        const value = cells.get(table, key);
        const history = value === undefined ? countedOf(table, key) : undefined;
        if (history !== undefined) check(table, history);
        return value;
      },
      range(table, range) {
        const history = countedOf(table, range.prefix);
        if (history === undefined) return cells.range(table, range);
        if (!isWholeList(range)) {
          check(table, history);
          return cells.range(table, range);
        }
        // All rows of a history are counted by reading them.
        const rows = cells.range(table, range);
        if (rows.length !== readCount(view, history, table.name))
          throw rowsMissing(table.name, history, generation);
        return rows;
      },
      cursor: (partition) => view.cursor(partition),
      partitions: () => view.partitions(),
      count: (table, owner) => view.count(table, owner),
    });
  };
};

const isWholeList = ({ prefix, from, to, limit }: Range): boolean =>
  prefix.length === 1 && from === undefined && to === undefined && limit === undefined;

const rowsMissing = (table: string, history: string, generation?: string): Error =>
  fail('E_ROWS_DAMAGED', `rows of ${history} are missing in ${table}, or too many`, {
    table,
    history,
    ...(generation !== undefined && { generation }),
  });

/** Compares the counts of whole tables. @param models as of {@link countedAmong} @throws E_ROWS_DAMAGED */
export const checkRowCounts = async (scan: Scan, models: readonly ReadModel[]): Promise<void> => {
  const written = new Map<string, Map<string, number>>();
  for await (const { key, value } of scan.entries(ROW_COUNTS)) {
    const [history, table] = key;
    const byHistory = written.get(table) ?? new Map<string, number>();
    written.set(table, byHistory.set(history, value[0]));
  }
  for (const table of countableOf(models)) {
    const column = historyColumn(table);
    const left = new Map(written.get(table.name));
    for await (const { key } of scan.entries(table)) {
      const history = String(key[column]);
      left.set(history, (left.get(history) ?? 0) - 1);
    }
    for (const [history, count] of left) if (count !== 0) throw rowsMissing(table.name, history);
  }
};
