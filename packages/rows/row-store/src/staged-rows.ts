import { encodeRange, keyText } from './key.ts';
import type { RowChange } from './store.ts';
import {
  typedRows,
  type CellReader,
  type Key,
  type Range,
  type Row,
  type RowReader,
  type Rows,
  type Table,
  type Value,
} from './table.ts';

/**
 * The rows that a batch sees before it is committed: its own writes over the rows of a reader. `rollbackTo` undoes the
 * writes after a savepoint, so that an interrupted fold leaves no trace.
 */
export type StagedRows = Rows & {
  savepoint(): number;
  rollbackTo(savepoint: number): void;
  /** The changes to commit, in the order in which they must be applied. */
  changes(): RowChange[];
  /**
   * Forgets all changes. For whoever has committed them: lists that the engine has moved to its old generation keep the rows in
   * them alive, and have them moved too, long after nobody has the lists.
   */
  clear(): void;
  /** The number of changes. */
  readonly size: number;
};

type StagedWrites = Omit<StagedRows, keyof Rows> & {
  put(table: Table, key: Key, value: Value): void;
  remove(table: Table, key: Key): void;
};

/**
 * The changes of one table. A batch only writes to most tables, so keys become texts only when somebody reads, or rows are rewritten: `index`
 * has the index of the last change of each key among the first `indexed` of `list`, by owner, and each of `byPrefix` by so many
 * columns more as ranges name.
 */
type Stage = {
  readonly list: RowChange[];
  readonly index: Index;
  indexed: number;
  readonly byPrefix: Map<number, PrefixIndex>;
};
type Index = Map<string | number, Map<string, number>>;
type PrefixIndex = { readonly rows: Map<string, Map<string, number>>; indexed: number };

/** Bytes are no key of a map: rows whose owners are bytes are kept together. */
const ownerOf = ([owner]: Key): string | number => (typeof owner === 'object' ? '' : (owner ?? ''));

let lastTable: Table | undefined;
let lastKey: Key | undefined;
let lastText = '';
/** The text of a key: several stages, one over the other, ask for that of the same key. */
const textOf = (table: Table, key: Key): string => {
  if (key === lastKey && table === lastTable) return lastText;
  lastText = keyText(table, key);
  [lastTable, lastKey] = [table, key];
  return lastText;
};

export const stageRows = (rows: RowReader): StagedRows => {
  const reader: CellReader = rows;
  const stages = new Map<Table, Stage>();
  const written: Stage[] = [];

  const write = (table: Table, key: Key, value: Value | null): void => {
    let stage = stages.get(table);
    if (stage === undefined) {
      stage = { list: [], index: new Map(), indexed: 0, byPrefix: new Map() };
      stages.set(table, stage);
    }
    stage.list.push({ table, key, value });
    written.push(stage);
  };

  return typedRows<CellReader & StagedWrites>({
    get(table, key) {
      const stage = stages.get(table);
      if (stage === undefined || stage.list.length === 0) return reader.get(table, key);
      const at = indexOf(stage).get(ownerOf(key))?.get(textOf(table, key));
      if (at === undefined) return reader.get(table, key);
      const { value } = stage.list[at] as RowChange;
      return value === null ? undefined : padded(table, value);
    },
    range(table, range) {
      const stage = stages.get(table);
      return stage === undefined || stage.list.length === 0
        ? reader.range(table, range)
        : overlaid(table, range, reader, stage);
    },
    put: (table, key, value) => write(table, key, value),
    remove: (table, key) => write(table, key, null),
    savepoint: () => written.length,
    rollbackTo(savepoint) {
      while (written.length > savepoint) {
        const stage = written.pop() as Stage;
        stage.list.pop();
        for (const [columns, { indexed }] of stage.byPrefix)
          if (indexed > stage.list.length) stage.byPrefix.delete(columns);
        if (stage.indexed <= stage.list.length) continue;
        stage.index.clear();
        stage.indexed = 0;
      }
    },
    changes() {
      const changes: RowChange[] = [];
      for (const [table, stage] of stages) {
        if (stage.indexed === 0 && table.rewritten !== true)
          for (const change of stage.list) changes.push(change);
        else
          for (const ofOwner of indexOf(stage).values())
            for (const at of ofOwner.values()) changes.push(stage.list[at] as RowChange);
      }
      return changes;
    },
    clear() {
      for (const stage of stages.values()) stage.list.length = 0;
      stages.clear();
      written.length = 0;
    },
    get size() {
      return written.length;
    },
  }) as StagedRows;
};

const indexOf = (stage: Stage): Index => {
  const { list, index } = stage;
  for (; stage.indexed < list.length; stage.indexed++) {
    const { table, key } = list[stage.indexed] as RowChange;
    const owner = ownerOf(key);
    let ofOwner = index.get(owner);
    if (ofOwner === undefined) index.set(owner, (ofOwner = new Map<string, number>()));
    ofOwner.set(keyText(table, key), stage.indexed);
  }
  return index;
};

/** The last changes of the keys that begin as the prefix of a range does, by their texts. */
const stagedBelow = (stage: Stage, table: Table, prefix: Key): Iterable<[string, number]> | undefined => {
  // Without an owner, rows of all of them are asked for.
  if (prefix.length === 0) return [...indexOf(stage).values()].flatMap((ofOwner) => [...ofOwner]);
  if (prefix.length === 1) return indexOf(stage).get(ownerOf(prefix));
  const columns = prefix.length;
  let found = stage.byPrefix.get(columns);
  if (found === undefined) stage.byPrefix.set(columns, (found = { rows: new Map(), indexed: 0 }));
  for (; found.indexed < stage.list.length; found.indexed++) {
    const { key } = stage.list[found.indexed] as RowChange;
    const beginning = keyText(table, key.slice(0, columns));
    let rows = found.rows.get(beginning);
    if (rows === undefined) found.rows.set(beginning, (rows = new Map<string, number>()));
    rows.set(keyText(table, key), found.indexed);
  }
  return found.rows.get(keyText(table, prefix));
};

const padded = (table: Table, value: Value): Value => {
  if (value.length === table.value.length) return value;
  return table.value.map((_, i) => value[i] ?? null);
};

/** Examines every staged row that begins as the prefix does. */
const overlaid = (table: Table, range: Range, reader: CellReader, stage: Stage): readonly Row[] => {
  const below = stagedBelow(stage, table, range.prefix);
  if (below === undefined) return reader.range(table, range);
  const bounds = encodeRange(table, range);
  const [start, end] = [bounds.start.toString('latin1'), bounds.end?.toString('latin1')];
  const inside: [string, RowChange][] = [];
  for (const [text, at] of below)
    if (text >= start && (end === undefined || text < end)) inside.push([text, stage.list[at] as RowChange]);
  if (inside.length === 0) return reader.range(table, range);
  const { limit = Infinity, reverse = false } = range;
  // Staged rows may remove stored ones, so as many more are read.
  const removed = inside.reduce((sum, [, { value }]) => (value === null ? sum + 1 : sum), 0);
  const beneath = reader.range(table, limit === Infinity ? range : { ...range, limit: limit + removed });
  const rows = new Map(beneath.map((row) => [keyText(table, row.key), row]));
  for (const [text, { key, value }] of inside) {
    if (value === null) rows.delete(text);
    else rows.set(text, { key, value: padded(table, value) });
  }
  const sign = reverse ? -1 : 1;
  const ordered = [...rows].sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0)).map(([, row]) => row);
  return ordered.slice(0, limit);
};
