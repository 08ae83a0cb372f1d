import { readHistoryHead } from '@stemma/history-store';
import type { ReadModel } from '@stemma/read-models';
import {
  defineTable,
  typedRows,
  type CellReader,
  type GenerationView,
  type Key,
  type Range,
  type Row,
  type RowReader,
  type Rows,
  type Table,
  type Value,
} from '@stemma/row-store';
import { missing, missingKind } from '@stemma/suspend';
import { RowsView } from '../rows-view.ts';

export const ON_DEMAND = defineTable({
  name: 'on_demand',
  about:
    'How far a read model that is folded on demand has the frames of a history: `next` is the `seq` of the first frame that it lacks. No row: nobody has asked for the history yet.',
  key: [
    ['history', 'text'],
    ['model', 'text'],
  ],
  value: [['next', 'uint']],
});

/** A read model that lacks frames of a history which the history store has. `next`: the first that both lack. */
export type Unfolded = { readonly model: ReadModel; readonly history: string; readonly next: number };

/** Rows that somebody reads and nobody has asked for yet. */
export const UNFOLDED = missingKind<Unfolded>(
  'rows that are folded on demand',
  ({ model, history, next }) => `${model.name} ${next} ${history}`,
);

/** The `seq` of the first frame of a history that a read model lacks; undefined if nobody has asked for it yet. */
export const readFolded = (rows: RowReader, history: string, model: string): number | undefined =>
  rows.get(ON_DEMAND, [history, model])?.[0];

export const putFolded = (rows: Pick<Rows, 'put'>, history: string, model: string, next: number): void =>
  rows.put(ON_DEMAND, [history, model], [next]);

/** The `seq` of the first frame of a history that the history store has not folded, or never will. */
export const readFoldedEnd = (rows: RowReader, history: string): number => {
  const head = readHistoryHead(rows, history);
  return head === undefined ? 0 : Math.min(head.next, head.stopped ?? Infinity);
};

/** How many frames of a history that the history store has a read model lacks. */
export const countUnfolded = (rows: RowReader, history: string, { name }: ReadModel): number =>
  Math.max(0, readFoldedEnd(rows, history) - (readFolded(rows, history, name) ?? 0));

/** The same view, where a read of a table that is folded on demand first asks for the frames that it lacks. */
export const viewOnDemand = (view: GenerationView, modelOf: ReadonlyMap<Table, ReadModel>): GenerationView =>
  typedRows<CellReader & Omit<GenerationView, keyof CellReader>>(new OnDemandView(view, modelOf));

class OnDemandView extends RowsView implements CellReader {
  readonly #rows: RowReader;
  readonly #modelOf: ReadonlyMap<Table, ReadModel>;
  #upToDate: Set<string> | undefined;

  constructor(view: GenerationView, modelOf: ReadonlyMap<Table, ReadModel>) {
    super(view);
    this.#rows = view;
    this.#modelOf = modelOf;
  }

  get(table: Table, key: Key): Value | undefined {
    this.#require(table, key);
    return this.view.get(table, key);
  }

  range(table: Table, range: Range): readonly Row[] {
    this.#require(table, range.prefix);
    return this.view.range(table, range);
  }

  #require(table: Table, [history]: Key): void {
    const model = this.#modelOf.get(table);
    if (model === undefined || typeof history !== 'string') return;
    const name = `${model.name} ${history}`;
    if (this.#upToDate?.has(name) === true) return;
    const next = readFoldedEnd(this.#rows, history);
    if ((readFolded(this.#rows, history, model.name) ?? 0) < next)
      throw missing(UNFOLDED, [{ model, history, next }]);
    (this.#upToDate ??= new Set()).add(name);
  }
}
