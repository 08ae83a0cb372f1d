import type { RecordChange } from './node.ts';

const keyOf = (change: RecordChange): string =>
  'node' in change ? `n${change.node}` : 'turn' in change ? `t${change.turn}` : `f${change.fixed}`;

/** A change played backwards. Root and regions are only ever given, so one that was not there stays as it is. */
export const invertChange = (change: RecordChange): RecordChange =>
  'fixed' in change
    ? { ...change, before: change.after, after: change.before ?? change.after }
    : ({ ...change, before: change.after, after: change.before } as RecordChange);

/**
 * Changes in a row as one change for each node, in the order in which the nodes were first touched; what came and went
 * in between leaves nothing. Applied to the records before, the sum gives the records after.
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
