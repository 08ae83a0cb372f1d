import type { EquivalentMutant } from './equivalent-mutant.ts';

export const CONTEXT_TREE: readonly EquivalentMutant[] = [
  {
    file: 'packages/context-tree/src/digests.ts',
    original: 'this.#resliced.clear();',
    replacement: '',
    reason: 'slices that stay marked are computed again from the same blocks: only work',
  },
  {
    file: 'packages/context-tree/src/lifetime.ts',
    original: 'left < 0',
    replacement: 'left <= 0',
    reason: '0 becomes 0',
  },
  {
    file: 'packages/context-tree/src/lt-hash.ts',
    original: 'kept.set(region + digest, expanded);',
    replacement: '',
    reason: 'an expansion that is not kept is computed again: only work',
  },
  {
    file: 'packages/context-tree/src/lt-hash.ts',
    original: 'expanded !== undefined',
    replacement: 'expanded === undefined',
    reason: 'an expansion stays kept, or is absent anyway: only memory, which has its own bound',
  },
  {
    file: 'packages/context-tree/src/read-payloads.ts',
    original: 'node.content !== undefined',
    replacement: 'node.content === undefined',
    reason: 'content and extras are read together, so the payload is read again: only work',
  },
  {
    file: 'packages/context-tree/src/tree.ts',
    original: 'head.extras = turn.extras;',
    replacement: '',
    reason: 'the attributes of the new head are read from the same payload: only work',
  },
];
