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
  type KeyOf,
  type Range,
  type Row,
  type RowReader,
  type Rows,
  type Scan,
  type Table,
  type Value,
  type ValueOf,
} from '@stemma/row-store';
import { collect } from '@stemma/suspend';
import { addKnownKey, type KnownKeys } from './known-keys.ts';
import { RowsView } from './rows-view.ts';

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

export const BUCKET_COUNTS = defineTable({
  name: 'bucket_counts',
  about:
    'The same for tables that are looked up over all histories: how many rows of a history are in the buckets of which 16 is the difference; `part` is the first of these. Each history writes its own.',
  key: [
    ['part', 'uint'],
    ['table', 'text'],
    ['history', 'text'],
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

/** Where the history stands in a table's key; -1: nowhere. */
export const historyColumn = ({ key }: Table): number => key.findIndex(([name]) => name === 'history');

/** Buckets are counted in so many parts: with a count for each, a call would bring as many counts as rows. */
const PARTS = 16;
const BUCKETS = 256;

/** Whether rows of all histories are looked up by a key whose hash, in one byte, stands before it. */
const isBucketed = ({ key }: Table): boolean => key[0]?.[0] === 'bucket' && key[0][1] === 'uint';

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

export const openAddedCounts = (staged: Rows, isCounted: IsCounted): AddedCounts => {
  const histories = new Map<string, OfHistory>();
  const cells = staged as CellReader & Pick<CellWriter, 'put' | 'remove'>;
  /** The frame that is folded now, and what it has added to. */
  let [history, seq]: [string, number] = ['', 0];
  let knownKeys: KnownKeys | undefined;
  let ofHistory: OfHistory = new Map();
  let touched: Added[] = [];

  const make = (table: Table, part: number): Added => ({
    history,
    table,
    part,
    total: 0,
    rows: 0,
    fresh: [],
  });
  const addedTo = (table: Table, [first]: Key): Added | undefined => {
    let known = ofHistory.get(table);
    if (known === undefined) {
      if (!isCounted(table)) return undefined;
      known = isBucketed(table) ? new Map<number, Added>() : make(table, -1);
      ofHistory.set(table, known);
    }
    if (!(known instanceof Map)) return known;
    const part = (first as number) % PARTS;
    let added = known.get(part);
    if (added === undefined) known.set(part, (added = make(table, part)));
    return added;
  };
  const touch = (added: Added): void => {
    if (added.rows === 0 && added.fresh.length === 0) touched.push(added);
  };
  /** True if it is known that no frame has written the row; its key is then known. Rows of frames are not noted. */
  const isNewKey = (table: Table, key: Key, column: number): boolean =>
    column === -1 && knownKeys !== undefined && addKnownKey(knownKeys, table, key);
  /** The key of the row of a table that the frame has read last: most rows are read before they are written anew. */
  const found = new Map<Table, Key>();
  const isFound = (table: Table, key: Key): boolean => {
    const last = found.get(table);
    return last !== undefined && sameKey(last, key);
  };
  const rows: CellReader & CellWriter = {
    get(table, key) {
      const value = cells.get(table, key);
      if (value !== undefined && frameColumn(table) === -1) found.set(table, key);
      return value;
    },
    range: (table, range) => cells.range(table, range),
    put(table, key, value) {
      const added = addedTo(table, key);
      if (added !== undefined) {
        const column = frameColumn(table);
        // No row of an earlier frame has the number of this one.
        if (key[column] === seq) {
          touch(added);
          added.fresh.push(key);
        } else if (
          !isFound(table, key) &&
          (isNewKey(table, key, column) || cells.get(table, key) === undefined)
        ) {
          touch(added);
          added.rows++;
        }
      }
      cells.put(table, key, value);
    },
    remove(table, key) {
      found.delete(table);
      const added = addedTo(table, key);
      if (added !== undefined && cells.get(table, key) !== undefined) {
        touch(added);
        const others = added.fresh.filter((each) => !sameKey(each, key));
        if (others.length === added.fresh.length) added.rows--;
        else added.fresh = others;
      }
      cells.remove(table, key);
    },
  };
  const forget = (): void => {
    for (const added of touched) {
      added.rows = 0;
      if (added.fresh.length > 0) added.fresh = [];
    }
    touched = [];
  };
  const counting: CountingRows = {
    rows: typedRows(rows) as unknown as Rows,
    finish() {
      // What was touched twice counts once: the first time takes all.
      for (const added of touched) {
        added.total += added.rows + distinctKeys(added.table, added.fresh);
        added.rows = 0;
        added.fresh = [];
      }
      touched = [];
    },
  };
  return {
    counting(ofFrame, frame, keys) {
      // The last one may have been given up.
      forget();
      found.clear();
      [history, seq, knownKeys] = [ofFrame, frame, keys];
      const known = histories.get(history);
      ofHistory = known ?? new Map<Table, Added | Map<number, Added>>();
      if (known === undefined) histories.set(history, ofHistory);
      return counting;
    },
    write() {
      forget();
      const parts = [...histories.values()]
        .flatMap((of) =>
          [...of.values()].flatMap((added) => (added instanceof Map ? [...added.values()] : added)),
        )
        .filter(({ total }) => total !== 0);
      // All are read before one is written: it is called again after rows were fetched.
      const before = collect((attempt) =>
        parts.map((part) => attempt((of) => countBefore(staged, of), part, 0)),
      );
      // None is no row: whether rows came and went in one batch or in two, the same is left.
      for (const [i, { history: of, table, part, total }] of parts.entries()) {
        const count = (before[i] as number) + total;
        if (part === -1) putOrRemove(staged, ROW_COUNTS, [of, table.name], count);
        else putOrRemove(staged, BUCKET_COUNTS, [part, table.name, of], count);
      }
      histories.clear();
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

/** So many rows are counted whenever somebody reads; more of them after this many milliseconds again, or when some were removed. */
const FEW = 64;
const COUNTED_FOR = 60_000;
/** Counts that a process keeps in mind. */
const MOST_KNOWN = 20_000;

/** The same view, whose lists and gaps are believed only if as many rows are there as were written. */
export type CountCheck = (view: GenerationView, generation: string) => GenerationView;

export const openCountCheck = (isCounted: IsCounted, now: () => number): CountCheck => {
  const known: KnownCounts = { now, countedAt: new Map(), counted: countedBy(isCounted) };
  return (view, generation) =>
    new CountedView(view, generation, known) as Omit<CountedView, keyof CellReader> & RowReader;
};

/** How the rows of a table are counted: each history's, each part's of the buckets, or not at all. */
type Counted = 'history' | 'part' | 'no';

const countedBy = (isCounted: IsCounted): ((table: Table) => Counted) => {
  const known = new Map<Table, Counted>();
  return (table) => {
    let found = known.get(table);
    if (found === undefined) {
      if (!isCounted(table)) found = 'no';
      else if (isBucketed(table)) found = 'part';
      else found = historyColumn(table) === 0 ? 'history' : 'no';
      known.set(table, found);
    }
    return found;
  };
};

type LastCount = {
  readonly at: number;
  readonly written: number;
  /** What the store said of removed rows before. */
  readonly removals: string | undefined;
};

type KnownCounts = {
  readonly now: () => number;
  readonly countedAt: Map<string, LastCount>;
  readonly counted: (table: Table) => Counted;
};

class CountedView extends RowsView implements CellReader {
  readonly #generation: string;
  readonly #known: KnownCounts;
  /** What this read has counted. */
  #checked: Set<string> | undefined;

  constructor(view: GenerationView, generation: string, known: KnownCounts) {
    super(view);
    this.#generation = generation;
    this.#known = known;
  }

  get(table: Table, key: Key): Value | undefined {
    const value = this.view.get(table, key);
    const owner = value === undefined ? this.#ownerOf(table, key) : undefined;
    if (owner !== undefined) this.#check(table, owner);
    return value;
  }

  range(table: Table, range: Range): readonly Row[] {
    const owner = this.#ownerOf(table, range.prefix);
    if (owner === undefined) return this.view.range(table, range);
    if (typeof owner === 'number' || !isWholeList(range)) {
      this.#check(table, owner);
      return this.view.range(table, range);
    }
    // All rows of a history are counted by reading them.
    const rows = this.view.range(table, range);
    if (rows.length !== this.#writtenOf(table, owner)) throw rowsMissing(table.name, owner, this.#generation);
    return rows;
  }

  /** The history, or the part of the buckets, whose rows of a table are counted; undefined: they are not. */
  #ownerOf(table: Table, key: Key): string | number | undefined {
    const counted = this.#known.counted(table);
    const first = key[0];
    if (counted === 'history') return typeof first === 'string' ? first : undefined;
    return counted === 'part' && typeof first === 'number' ? first % PARTS : undefined;
  }

  #check(table: Table, owner: string | number): void {
    const { now, countedAt } = this.#known;
    const name = `${this.#generation} ${table.name} ${owner}`;
    if (this.#checked?.has(name) === true) return;
    (this.#checked ??= new Set()).add(name);
    const before = countedAt.get(name);
    const removals = this.removals(table);
    const isRecent = before !== undefined && now() - before.at < COUNTED_FOR && before.removals === removals;
    // To count a part are as many reads as it has buckets.
    if (isRecent && (before.written > FEW || typeof owner === 'number')) return;
    const written = this.#writtenOf(table, owner);
    if (this.#storedOf(table, owner) !== written) throw rowsMissing(table.name, owner, this.#generation);
    if (countedAt.size >= MOST_KNOWN) countedAt.clear();
    countedAt.set(name, { at: isRecent ? before.at : now(), written, removals });
  }

  #writtenOf(table: Table, owner: string | number): number {
    if (typeof owner === 'string')
      return (this.view.get(ROW_COUNTS, [owner, table.name])?.[0] ?? 0) as number;
    return this.view
      .range(BUCKET_COUNTS, { prefix: [owner, table.name] })
      .reduce((sum, { value }) => sum + (value[0] as number), 0);
  }

  #storedOf(table: Table, owner: string | number): number {
    if (typeof owner === 'string') return this.view.count(table, owner);
    let stored = 0;
    for (let bucket = owner; bucket < BUCKETS; bucket += PARTS) stored += this.view.count(table, bucket);
    return stored;
  }
}

const isWholeList = ({ prefix, from, to, limit }: Range): boolean =>
  prefix.length === 1 && from === undefined && to === undefined && limit === undefined;

/** @param owner a history, or a part of the buckets of all histories */
const rowsMissing = (table: string, owner: string | number, generation?: string): Error =>
  fail('E_ROWS_DAMAGED', `rows of ${ownerText(owner)} are missing in ${table}, or too many`, {
    table,
    ...(typeof owner === 'string' ? { history: owner } : { part: owner }),
    ...(generation !== undefined && { generation }),
  });

const ownerText = (owner: string | number): string =>
  typeof owner === 'string' ? owner : `part ${owner} of all histories`;

/** Compares the counts of whole tables. @param models as of {@link countedAmong} @throws E_ROWS_DAMAGED */
export const checkRowCounts = async (scan: Scan, models: readonly ReadModel[]): Promise<void> => {
  const written = new Map<string, Map<string, number>>();
  const add = (table: string, history: string, rows: number): void => {
    const byHistory = written.get(table) ?? new Map<string, number>();
    written.set(table, byHistory.set(history, (byHistory.get(history) ?? 0) + rows));
  };
  for await (const { key, value } of scan.entries(ROW_COUNTS)) add(key[1], key[0], value[0]);
  for await (const { key, value } of scan.entries(BUCKET_COUNTS)) add(key[1], key[2], value[0]);
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
