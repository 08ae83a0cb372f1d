import type { Change, FixedName, FixedRecord, NodeRecord, TurnRecord } from '@stemma/context-tree';

/** What a frame did to one node, however often it touched it. */
export type Net<R> = { readonly id: string; readonly before: R | undefined; readonly after: R | undefined };

export type NetChanges = {
  readonly nodes: readonly Net<NodeRecord>[];
  readonly turns: readonly Net<TurnRecord>[];
  readonly fixed: ReadonlyMap<FixedName, FixedRecord>;
};

/** Sums up the changes of a frame: of every node the record before all of them and after. */
export const netChanges = (lists: readonly (readonly Change[])[]): NetChanges => {
  const nodes = new Map<string, Net<NodeRecord>>();
  const turns = new Map<string, Net<TurnRecord>>();
  const fixed = new Map<FixedName, FixedRecord>();
  for (const list of lists) {
    for (const change of list) {
      if ('node' in change) add(nodes, change.node, change.before, change.after);
      else if ('turn' in change) add(turns, change.turn, change.before, change.after);
      else fixed.set(change.fixed, change.after);
    }
  }
  return { nodes: [...nodes.values()], turns: [...turns.values()], fixed };
};

const add = <R>(nets: Map<string, Net<R>>, id: string, before: R | undefined, after: R | undefined): void => {
  const known = nets.get(id);
  nets.set(id, { id, before: known === undefined ? before : known.before, after });
};
