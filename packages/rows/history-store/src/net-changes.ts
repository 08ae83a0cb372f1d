import type { FixedName, FixedRecord, NodeRecord, RecordChange, TurnRecord } from '@stemma/context-tree';

/** What a frame did to one node in total, however often it changed it. */
export type NetChange<R> = {
  readonly id: string;
  readonly before: R | undefined;
  readonly after: R | undefined;
};

export type NetChanges = {
  readonly nodes: readonly NetChange<NodeRecord>[];
  readonly turns: readonly NetChange<TurnRecord>[];
  readonly fixed: ReadonlyMap<FixedName, NetChange<FixedRecord>>;
};

/** The total changes of a frame: for every node the record before the first change and after the last. */
export const netChanges = (lists: readonly (readonly RecordChange[])[]): NetChanges => {
  const nodes = new Map<string, NetChange<NodeRecord>>();
  const turns = new Map<string, NetChange<TurnRecord>>();
  const fixed = new Map<FixedName, NetChange<FixedRecord>>();
  for (const list of lists) {
    for (const change of list) {
      if ('node' in change) addChange(nodes, change.node, change.before, change.after);
      else if ('turn' in change) addChange(turns, change.turn, change.before, change.after);
      else addChange(fixed, change.fixed, change.before, change.after);
    }
  }
  return { nodes: [...nodes.values()], turns: [...turns.values()], fixed };
};

const addChange = <R, I extends string>(
  changes: Map<I, NetChange<R>>,
  id: I,
  before: R | undefined,
  after: R | undefined,
): void => {
  const known = changes.get(id);
  changes.set(id, { id, before: known === undefined ? before : known.before, after });
};
