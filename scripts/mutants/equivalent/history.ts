import type { EquivalentMutant } from './equivalent-mutant.ts';

export const HISTORY: readonly EquivalentMutant[] = [
  {
    file: 'packages/domain/history/src/causes/attribute.ts',
    original: 'turn === undefined',
    replacement: 'false',
    reason: 'the loop over the nodes of a turn that is not there has no rounds: its bounds are not numbers',
  },
  {
    file: 'packages/domain/history/src/causes/node-changes.ts',
    original: "record === undefined || 'fixed' in change",
    replacement: "'fixed' in change",
    reason: 'a change has a record before or after it, or both',
  },
];
