import type { CellReader, GenerationView, Key, Range, Row, RowReader, Table, Value } from '@stemma/row-store';
import { RecentMap } from '@stemma/values';
import { RowsView } from '../rows-view.ts';
import {
  BUCKET_COUNTS,
  BUCKETS,
  historyColumn,
  isBucketed,
  PARTS,
  ROW_COUNTS,
  rowsMissing,
  type IsCounted,
} from './counted-tables.ts';

/** So many rows are counted whenever somebody reads; more of them after this many milliseconds again, or when some were removed. */
const FEW = 64;
const COUNTED_FOR = 60_000;
/** Counts that a process keeps in mind, those used last, and at most twice as many. */
const KNOWN = 10_000;

/** The same view, whose lists and gaps are believed only if as many rows are there as were written. */
export type CountCheck = (view: GenerationView, generation: string) => GenerationView;

export const openCountCheck = (isCounted: IsCounted, now: () => number): CountCheck => {
  const known: KnownCounts = { now, countedAt: new RecentMap(KNOWN), counted: countedBy(isCounted) };
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
  readonly countedAt: RecentMap<string, LastCount>;
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
