import { FENCES, HISTORY_STORE, readFence, RECORD_TABLES } from '@stemma/history-store';
import type { Generation, GenerationView, Key, RowReader, Table } from '@stemma/row-store';
import type { Group } from '../groups.ts';

/** Rows of a group were asked for that was not opened for this read. */
export class OtherGroupNeeded extends Error {
  readonly group: Group;
  constructor(group: Group) {
    super(`rows of ${group.name} are needed`);
    this.group = group;
  }
}

/** A group has less of a history than the first one, whose word counts. */
export class Lagging extends Error {}

type Opened = { readonly group: Group; readonly generation: Generation };

/**
 * What `fn` gives on rows of several groups, each as of one of its commits, opened one after the other: each has at least as
 * much of every history that was asked for in it as the first. A frame more changes no answer about a position, and the
 * first group says which positions there are.
 *
 * @throws OtherGroupNeeded, Lagging
 */
export const readGroups = <T>(
  [first, ...rest]: readonly Opened[],
  all: readonly Group[],
  fn: (view: GenerationView) => T,
): Promise<T> => {
  const within = (opened: readonly Opened[], views: readonly GenerationView[]): T | Promise<T> => {
    const [next, ...others] = opened;
    if (next === undefined) return fn(composed(views, [first as Opened, ...rest], all));
    return next.generation.read((view) => within(others, [...views, view])) as Promise<T>;
  };
  return within(first === undefined ? [] : [first, ...rest], []) as Promise<T>;
};

const composed = (
  views: readonly GenerationView[],
  opened: readonly Opened[],
  all: readonly Group[],
): GenerationView => {
  const [main] = views as readonly [GenerationView, ...GenerationView[]];
  const level = new Set<string>();
  const viewFor = (table: Table, key: Key): RowReader => {
    const place = opened.findIndex(({ group }) => has(group, table));
    if (place === -1) {
      const group = all.find((each) => has(each, table));
      if (group === undefined) throw new RangeError(`no group has the table ${table.name}`);
      throw new OtherGroupNeeded(group);
    }
    const view = views[place] as GenerationView;
    const [history] = key;
    const name = `${place} ${String(history)}`;
    if (place > 0 && typeof history === 'string' && !level.has(name)) {
      const [mine, theirs] = [readFence(main, history)?.next ?? 0, readFence(view, history)?.next ?? 0];
      if (theirs < mine) throw new Lagging(`${history} is at ${theirs} of ${mine}`);
      level.add(name);
    }
    return view;
  };
  return {
    get: (table, key) => viewFor(table, key).get(table, key),
    range: (table, range) => viewFor(table, range.prefix).range(table, range),
    cursor: (partition) => main.cursor(partition),
    partitions: () => main.partitions(),
  };
};

/** The history store of the primary group is read; every group tells of its own heads. */
const has = ({ model, primary }: Group, table: Table): boolean =>
  table === FENCES ||
  (primary && (RECORD_TABLES.includes(table) || HISTORY_STORE.tables.includes(table))) ||
  model.tables.some(({ name }) => name === table.name);
