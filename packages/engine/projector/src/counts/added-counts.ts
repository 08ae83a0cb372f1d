import {
  compareCells,
  keyText,
  typedRows,
  type CellReader,
  type Key,
  type KeyOf,
  type Range,
  type Row,
  type RowReader,
  type Rows,
  type Table,
  type Value,
  type ValueOf,
} from '@stemma/row-store';
import { collect } from '@stemma/suspend';
import { BUCKET_COUNTS, isBucketed, PARTS, ROW_COUNTS, type IsCounted } from './counted-tables.ts';
import { addKnownKey, type KnownKeys } from './known-keys.ts';

/** Rows as a fold of one frame writes them; `finish` adds to the counts what came. */
export type CountingRows = { readonly rows: Rows; finish(): void };

/** The counts of the rows that frames add: summed up, and written once for all of them. */
export type AddedCounts = {
  /** Counts the rows that the fold of a frame adds, once it is finished. @param keys of its history, if they are known */
  counting(history: string, seq: number, keys?: KnownKeys): CountingRows;
  /** Writes the counts of the frames since the last call; it changes nothing before it throws Missing. */
  write(): void;
};

/** The rows that frames of a history add to a table, or to the part of its buckets. */
type Added = {
  readonly history: string;
  readonly table: Table;
  /** -1: it has no buckets. */
  readonly part: number;
  /** Of the frames that are finished. */
  total: number;
  /** Of the frame that is folded now: so many rows, and by their keys those that can only be new. */
  rows: number;
  fresh: Key[];
};

/** What is counted of one history: by table, and for tables with buckets by part too. */
type OfHistory = Map<Table, Added | Map<number, Added>>;

/** What all frames since the last write have added; the one that is folded now apart. */
class CountedCells implements CellReader, CellWriter {
  readonly #cells: CellReader & Pick<CellWriter, 'put' | 'remove'>;
  readonly #isCounted: IsCounted;
  readonly #histories = new Map<string, OfHistory>();
  /** The frame that is folded now, and what it has added to. */
  #history = '';
  #seq = 0;
  #knownKeys: KnownKeys | undefined;
  #ofHistory: OfHistory = new Map();
  #touched: Added[] = [];
  /** The key of the row of a table that the frame has read last: most rows are read before they are written anew. */
  readonly #found = new Map<Table, Key>();

  constructor(staged: Rows, isCounted: IsCounted) {
    this.#cells = staged;
    this.#isCounted = isCounted;
  }

  begin(history: string, seq: number, keys: KnownKeys | undefined): void {
    // The last one may have been given up.
    this.#forget();
    this.#found.clear();
    this.#history = history;
    this.#seq = seq;
    this.#knownKeys = keys;
    let known = this.#histories.get(history);
    if (known === undefined)
      this.#histories.set(history, (known = new Map<Table, Added | Map<number, Added>>()));
    this.#ofHistory = known;
  }

  get(table: Table, key: Key): Value | undefined {
    const value = this.#cells.get(table, key);
    if (value !== undefined && frameColumn(table) === -1) this.#found.set(table, key);
    return value;
  }

  range(table: Table, range: Range): readonly Row[] {
    return this.#cells.range(table, range);
  }

  put(table: Table, key: Key, value: Value): void {
    const added = this.#addedTo(table, key);
    if (added !== undefined) {
      const column = frameColumn(table);
      // No row of an earlier frame has the number of this one.
      if (key[column] === this.#seq) {
        this.#touch(added);
        added.fresh.push(key);
      } else if (
        !this.#isFound(table, key) &&
        (this.#isNewKey(table, key, column) || this.#cells.get(table, key) === undefined)
      ) {
        this.#touch(added);
        added.rows++;
      }
    }
    this.#cells.put(table, key, value);
  }

  remove(table: Table, key: Key): void {
    this.#found.delete(table);
    const added = this.#addedTo(table, key);
    if (added !== undefined && this.#cells.get(table, key) !== undefined) {
      this.#touch(added);
      const others = added.fresh.filter((each) => !sameKey(each, key));
      if (others.length === added.fresh.length) added.rows--;
      else added.fresh = others;
    }
    this.#cells.remove(table, key);
  }

  finish(): void {
    // What was touched twice counts once: the first time takes all.
    for (const added of this.#touched) {
      added.total += added.rows + distinctKeys(added.table, added.fresh);
      added.rows = 0;
      added.fresh = [];
    }
    this.#touched = [];
  }

  /** What the finished frames have added. */
  totals(): readonly Added[] {
    this.#forget();
    return [...this.#histories.values()]
      .flatMap((of) =>
        [...of.values()].flatMap((added) => (added instanceof Map ? [...added.values()] : added)),
      )
      .filter(({ total }) => total !== 0);
  }

  clear(): void {
    this.#histories.clear();
  }

  #forget(): void {
    for (const added of this.#touched) {
      added.rows = 0;
      if (added.fresh.length > 0) added.fresh = [];
    }
    this.#touched = [];
  }

  #addedTo(table: Table, [first]: Key): Added | undefined {
    let known = this.#ofHistory.get(table);
    if (known === undefined) {
      if (!this.#isCounted(table)) return undefined;
      known = isBucketed(table) ? new Map<number, Added>() : this.#make(table, -1);
      this.#ofHistory.set(table, known);
    }
    if (!(known instanceof Map)) return known;
    const part = (first as number) % PARTS;
    let added = known.get(part);
    if (added === undefined) known.set(part, (added = this.#make(table, part)));
    return added;
  }

  #make(table: Table, part: number): Added {
    return { history: this.#history, table, part, total: 0, rows: 0, fresh: [] };
  }

  #touch(added: Added): void {
    if (added.rows === 0 && added.fresh.length === 0) this.#touched.push(added);
  }

  /** True if it is known that no frame has written the row; its key is then known. Rows of frames are not noted. */
  #isNewKey(table: Table, key: Key, column: number): boolean {
    return column === -1 && this.#knownKeys !== undefined && addKnownKey(this.#knownKeys, table, key);
  }

  #isFound(table: Table, key: Key): boolean {
    const last = this.#found.get(table);
    return last !== undefined && sameKey(last, key);
  }
}

export const openAddedCounts = (staged: Rows, isCounted: IsCounted): AddedCounts => {
  const cells = new CountedCells(staged, isCounted);
  const counting: CountingRows = {
    rows: typedRows(cells) as unknown as Rows,
    finish: () => cells.finish(),
  };
  return {
    counting(history, seq, keys) {
      cells.begin(history, seq, keys);
      return counting;
    },
    write() {
      const parts = cells.totals();
      // All are read before one is written: it is called again after rows were fetched.
      const before = collect((attempt) =>
        parts.map((part) => attempt((of) => countBefore(staged, of), part, 0)),
      );
      // None is no row: whether rows came and went in one batch or in two, the same is left.
      for (const [i, { history, table, part, total }] of parts.entries()) {
        const count = (before[i] as number) + total;
        if (part === -1) putOrRemove(staged, ROW_COUNTS, [history, table.name], count);
        else putOrRemove(staged, BUCKET_COUNTS, [part, table.name, history], count);
      }
      cells.clear();
    },
  };
};

const putOrRemove = <T extends typeof ROW_COUNTS | typeof BUCKET_COUNTS>(
  staged: Rows,
  table: T,
  key: KeyOf<T>,
  count: number,
): void => {
  if (count === 0) staged.remove(table, key);
  else staged.put(table, key, [count] as ValueOf<T>);
};

const countBefore = (
  rows: RowReader,
  { history, table: { name }, part }: Pick<Added, 'history' | 'table' | 'part'>,
): number =>
  part === -1 ? readCount(rows, history, name) : (rows.get(BUCKET_COUNTS, [part, name, history])?.[0] ?? 0);

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
