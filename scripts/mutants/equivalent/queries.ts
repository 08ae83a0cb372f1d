import type { EquivalentMutant } from './equivalent-mutant.ts';

export const QUERIES: readonly EquivalentMutant[] = [
  {
    file: 'packages/engine/queries/src/branches/tree.ts',
    original: 'branchId === position && seq === branchId',
    replacement: 'seq === branchId',
    reason:
      'a note of the frame that starts a branch can be to that frame alone: the branch has no other yet, and notes to earlier positions name the branch that has them',
  },
  {
    file: 'packages/engine/queries/src/impact/live-blocks.ts',
    original: 'expiring.delete(expiredUntil + 1);',
    replacement: '',
    reason: 'no cycle is counted twice, and nothing is put into one that is over: only memory',
  },
  {
    file: 'packages/engine/queries/src/impact/trace.ts',
    original: 'start === undefined',
    replacement: 'false',
    reason: 'the branch that each branch starts from comes before it and gives it its state',
  },
  {
    file: 'packages/engine/queries/src/merge-base.ts',
    original: 'to - from',
    replacement: 'to + from',
    reason: 'more frames are read, and those behind the end are left out: only work',
  },
  {
    file: 'packages/engine/queries/src/merge-base.ts',
    original: '16',
    replacement: '15',
    reason: 'the size of a page: the same frames come in other pages',
  },
  {
    file: 'packages/engine/queries/src/prompts/bisect.ts',
    original: 'sharedCount < from.length',
    replacement: 'sharedCount <= from.length',
    reason: 'behind the end there is no `seq`, which equals none of the other list',
  },
  {
    file: 'packages/engine/queries/src/prompts/blame.ts',
    original: 'tree.payloads[index]?.seq ?? []',
    replacement: 'tree.payloads[index]?.seq',
    reason: 'a thread has blocks only, and every block has a payload',
  },
  {
    file: 'packages/engine/queries/src/prompts/measure.ts',
    original: 'length < most && a.charCodeAt(length) === b.charCodeAt(length)',
    replacement: 'a.charCodeAt(length) === b.charCodeAt(length)',
    reason: 'behind its end a text has NaN, which equals nothing',
  },
  {
    file: 'packages/engine/queries/src/prompts/measure.ts',
    original: 'length === b.length',
    replacement: 'length !== b.length',
    reason:
      'what both have in common is then the whole of the first, whose tokens are counted again, or not: the same number',
  },
  {
    file: 'packages/engine/queries/src/prompts/tokens.ts',
    original: 'text.length <= LONGEST_RUN',
    replacement: 'text.length < LONGEST_RUN',
    reason: 'a text of just this length has no longer run and no piece: it comes as a whole either way',
  },
  {
    file: 'packages/engine/queries/src/stages/diff-stages.ts',
    original: "hashA ?? ''",
    replacement: 'hashA',
    reason: 'two outputs are hashed, so there are two hashes',
  },
];
