import { toHex } from '@stemma/canonical';
import {
  applyToBoth,
  exportNaive,
  naiveDiff,
  newHistoryPair,
  readBack,
  runs,
  script,
  threadHashNaive,
  threadNaive,
  treeHashNaive,
  type NaiveState,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffTrees, flattenTree, hashFlat, type FlatTree } from '../src/index.ts';

test('what a tree is after any steps is what a naive one is: text, thread and hashes, kept along the way and computed from nothing [snapshots: tree hash, snapshots: thread hash] [context-tree §3.1, §3.2, §3.3]', () => {
  fc.assert(
    fc.property(script, fc.constantFrom('full' as const, 'pre' as const), (wishes, thread) => {
      const pair = newHistoryPair(thread);
      wishes.forEach((wish, at) => {
        const done = applyToBoth(pair, wish, at);
        if (done === null) return;
        const { frame } = done;
        const naive = pair.states.get(frame.branchId) as NaiveState;
        const [treeHash, threadHash] = [treeHashNaive(naive), threadHashNaive(naive, thread)];
        expect(readBack(pair, frame.branchId, null)).toEqual({
          text: exportNaive(naive),
          thread: threadNaive(naive, thread),
          treeHash,
          threadHash,
        });
        const flat = flattenTree(frame.state.tree);
        const fromNothing = hashFlat(flat, pair.history.payload, thread);
        expect([toHex(fromNothing.treeHash), toHex(fromNothing.threadHash)]).toEqual(
          [treeHash, threadHash].map(toHex),
        );
      });
    }),
    { numRuns: runs(40) },
  );
});

test('a diff of two positions lists what comparing every field of every node lists [context-tree §7: shape]', () => {
  fc.assert(
    fc.property(script, fc.nat(), fc.nat(), (wishes, x, y) => {
      const pair = newHistoryPair('full');
      wishes.forEach((wish, at) => applyToBoth(pair, wish, at));
      const { history, copies } = pair;
      const [a, b] = [x, y].map((n) => {
        const { branchId, seq } = copies[n % copies.length] as (typeof copies)[number];
        return history.tree(branchId, seq);
      }) as [FlatTree, FlatTree];
      const { added, removed, changed } = diffTrees(a, b, history.payload);
      const lines = [
        ...added.map((id) => `+ ${id}`),
        ...removed.map((id) => `- ${id}`),
        ...changed.flatMap(({ id, fields }) => fields.map((field) => `~ ${id} ${field}`)),
      ];
      expect(lines.sort((p, q) => (p < q ? -1 : 1))).toEqual(naiveDiff(a, b, history.payload));
    }),
    { numRuns: runs(60) },
  );
});
