import { compareBytes } from '@stemma/canonical';
import { encodeKey, encodeRange } from './key.ts';
import type { RowChange } from './store.ts';
import type { Key, Range, Row, RowReader, Rows, Table, Value } from './table.ts';

type Staged = { change: RowChange; readonly bytes: Buffer };
type TableStage = Map<string, Staged>;

/**
 * Rows as a batch sees them before it is committed: what it wrote, over what a reader gives. `mark` and `undoTo` take
 * back what came after a mark, so that a fold that could not be finished leaves no trace.
 */
export type StagedRows = Rows & {
  mark(): number;
  undoTo(mark: number): void;
  /** The last change of every row that was touched. */
  changes(): RowChange[];
  /** How many rows were touched. */
  readonly size: number;
};

export const stageRows = (reader: RowReader): StagedRows => {
  const stages = new Map<Table, TableStage>();
  const undo: { stage: TableStage; key: string; before: Staged | undefined }[] = [];
  let size = 0;

  const stageOf = (table: Table): TableStage => {
    let stage = stages.get(table);
    if (stage !== undefined) return stage;
    stage = new Map<string, Staged>();
    stages.set(table, stage);
    return stage;
  };

  const write = (table: Table, key: Key, value: Value | null): void => {
    const stage = stageOf(table);
    const bytes = encodeKey(table, key);
    const text = bytes.toString('latin1');
    const before = stage.get(text);
    if (before === undefined) size++;
    undo.push({ stage, key: text, before });
    stage.set(text, { change: { table, key, value }, bytes });
  };

  return {
    get(table, key) {
      const stage = stages.get(table);
      if (stage !== undefined && stage.size > 0) {
        const staged = stage.get(encodeKey(table, key).toString('latin1'));
        if (staged !== undefined)
          return staged.change.value === null ? undefined : padded(table, staged.change.value);
      }
      return reader.get(table, key);
    },
    range: (table, range) => overlaid(table, range, reader, stages.get(table)),
    put: (table, key, value) => write(table, key, value),
    remove: (table, key) => write(table, key, null),
    mark: () => undo.length,
    undoTo(mark) {
      while (undo.length > mark) {
        const { stage, key, before } = undo.pop() as (typeof undo)[number];
        if (before === undefined) {
          stage.delete(key);
          size--;
        } else stage.set(key, before);
      }
    },
    changes() {
      const changes: RowChange[] = [];
      for (const stage of stages.values()) for (const { change } of stage.values()) changes.push(change);
      return changes;
    },
    get size() {
      return size;
    },
  };
};

const padded = (table: Table, value: Value): Value => {
  if (value.length === table.value.length) return value;
  return table.value.map((_, i) => value[i] ?? null);
};

/** Looks at every staged row of the table: batches are small, and folds ask for single rows where they can. */
const overlaid = (
  table: Table,
  range: Range,
  reader: RowReader,
  stage: TableStage | undefined,
): readonly Row[] => {
  if (stage === undefined || stage.size === 0) return reader.range(table, range);
  const { start, end } = encodeRange(table, range);
  const inside = [...stage.values()].filter(
    ({ bytes }) => compareBytes(bytes, start) >= 0 && (end === undefined || compareBytes(bytes, end) < 0),
  );
  if (inside.length === 0) return reader.range(table, range);
  const { limit = Infinity, reverse = false } = range;
  // Of what lies beneath, the staged rows may hide some: so many more are asked for.
  const beneath = reader.range(
    table,
    limit === Infinity ? range : { ...range, limit: limit + inside.length },
  );
  const rows = new Map(beneath.map((row) => [encodeKey(table, row.key).toString('latin1'), row]));
  for (const { change, bytes } of inside) {
    if (change.value === null) rows.delete(bytes.toString('latin1'));
    else rows.set(bytes.toString('latin1'), { key: change.key, value: padded(table, change.value) });
  }
  const sign = reverse ? -1 : 1;
  const ordered = [...rows].sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0)).map(([, row]) => row);
  return ordered.slice(0, limit);
};
