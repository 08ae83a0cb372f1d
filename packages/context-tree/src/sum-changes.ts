import type { Change } from './node.ts';

const keyOf = (change: Change): string =>
  'node' in change ? `n${change.node}` : 'turn' in change ? `t${change.turn}` : `f${change.fixed}`;

/** A change played backwards. Root and regions are only ever given, so one that was not there stays as it is. */
export const invertChange = (change: Change): Change =>
  'fixed' in change
    ? { ...change, before: change.after, after: change.before ?? change.after }
    : ({ ...change, before: change.after, after: change.before } as Change);

/**
 * Changes in a row as one change for each node, in the order in which the nodes were first touched; what came and went
 * in between leaves nothing. Applied to the records before, the sum gives the records after.
 */
export const sumChanges = (changes: Iterable<Change>): Change[] => {
  const sums = new Map<string, Change>();
  for (const change of changes) {
    const key = keyOf(change);
    const before = sums.get(key);
    sums.set(key, before === undefined ? change : ({ ...change, before: before.before } as Change));
  }
  return [...sums.values()].filter((change) => change.before !== change.after);
};
