import type { RecordChange } from './node.ts';

const keyOf = (change: RecordChange): string =>
  'node' in change ? `n${change.node}` : 'turn' in change ? `t${change.turn}` : `f${change.fixed}`;

/**
 * Consecutive changes as one change per node, in the order in which nodes first changed; a node added and removed in
 * between is left out. Applied to the records before, the sum gives the records after.
 */
export const sumChanges = (changes: Iterable<RecordChange>): RecordChange[] => {
  const sums = new Map<string, RecordChange>();
  for (const change of changes) {
    const key = keyOf(change);
    const before = sums.get(key);
    sums.set(key, before === undefined ? change : ({ ...change, before: before.before } as RecordChange));
  }
  return [...sums.values()].filter((change) => change.before !== change.after);
};
