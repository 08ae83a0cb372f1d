import { HISTORY_HEADS, HISTORY_STORE, readHistoryHead, RECORD_TABLES } from '@stemma/history-store';
import {
  typedRows,
  type CellReader,
  type Generation,
  type GenerationView,
  type Key,
  type Table,
} from '@stemma/row-store';
import { missing, missingKind } from '@stemma/suspend';
import type { Group } from '../groups.ts';
import type { CountCheck } from '../row-counts.ts';

/** Groups that a read needs and that are not open for it. */
export const UNOPENED_GROUPS = missingKind<Group>('groups of rows');

/** A group whose generation has less of a history than the primary group, which decides what there is. */
export type BehindPrimary = {
  readonly group: Group;
  readonly generation: string;
  readonly history: string;
  /** The `seq` of the next frame that the primary group expects. */
  readonly next: number;
};
export const BEHIND_PRIMARY = missingKind<BehindPrimary>(
  'rows of one moment',
  ({ generation, history, next }) => `${generation} ${next} ${history}`,
);

type OpenedGroup = { readonly group: Group; readonly generation: Generation };

/**
 * The result of `fn` on the rows of several groups, each at one of its commits. Every group has at least as much of
 * each history that `fn` reads in it as the primary group. Additional frames change no answer about a position, and
 * the primary group decides which positions there are.
 *
 * @throws Missing {@link UNOPENED_GROUPS}, {@link BEHIND_PRIMARY}
 */
export const readGroups = <T>(
  [first, ...rest]: readonly OpenedGroup[],
  all: readonly Group[],
  checkCounts: CountCheck,
  fn: (view: GenerationView) => T,
): Promise<T> => {
  const openNext = (opened: readonly OpenedGroup[], views: readonly GenerationView[]): T | Promise<T> => {
    const [next, ...others] = opened;
    if (next === undefined) return fn(composeViews(views, [first as OpenedGroup, ...rest], all));
    return next.generation.read((view) =>
      openNext(others, [...views, checkCounts(view, next.generation.name)]),
    ) as Promise<T>;
  };
  return openNext(first === undefined ? [] : [first, ...rest], []) as Promise<T>;
};

const composeViews = (
  views: readonly GenerationView[],
  opened: readonly OpenedGroup[],
  all: readonly Group[],
): GenerationView => {
  const [primaryView] = views as readonly [GenerationView, ...GenerationView[]];
  const upToDate = new Set<string>();
  const viewFor = (table: Table, key: Key): CellReader & Pick<GenerationView, 'count'> => {
    const index = opened.findIndex(({ group }) => groupHasTable(group, table));
    if (index === -1) {
      const group = all.find((each) => groupHasTable(each, table));
      if (group === undefined) throw new RangeError(`no group has the table ${table.name}`);
      throw missing(UNOPENED_GROUPS, [group]);
    }
    const view = views[index] as GenerationView;
    const [history] = key;
    const name = `${index} ${String(history)}`;
    if (index > 0 && typeof history === 'string' && !upToDate.has(name)) {
      const [primaryNext, groupNext] = [
        readHistoryHead(primaryView, history)?.next ?? 0,
        readHistoryHead(view, history)?.next ?? 0,
      ];
      if (groupNext < primaryNext) {
        const { group, generation } = opened[index] as OpenedGroup;
        throw missing(BEHIND_PRIMARY, [{ group, generation: generation.name, history, next: primaryNext }]);
      }
      upToDate.add(name);
    }
    return view;
  };
  return typedRows<CellReader & Omit<GenerationView, keyof CellReader>>({
    get: (table, key) => viewFor(table, key).get(table, key),
    range: (table, range) => viewFor(table, range.prefix).range(table, range),
    cursor: (partition) => primaryView.cursor(partition),
    partitions: () => primaryView.partitions(),
    count: (table, owner) => viewFor(table, [owner]).count(table, owner),
  });
};

/**
 * True if reads of the table go to this group: the history store is read in the primary group, heads in every group.
 */
const groupHasTable = ({ model, primary }: Group, table: Table): boolean =>
  table === HISTORY_HEADS ||
  (primary && (RECORD_TABLES.includes(table) || HISTORY_STORE.tables.includes(table))) ||
  model.tables.some(({ name }) => name === table.name);
