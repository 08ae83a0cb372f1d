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
import { isMissing, missing } from '@stemma/suspend';
import {
  diffTrees,
  exportTree,
  flattenTree,
  hashFlat,
  NODE_KIND,
  PAYLOADS,
  recordsOf,
  Tree,
  type EventRef,
  type FlatTree,
} from '../src/index.ts';
import type { Hashes } from '../src/tree.ts';
import type { TreeNode } from '../src/tree-node.ts';

/** Characters of the texts that the nodes of a tree keep. */
const keptText = ({ json, kids }: TreeNode): number =>
  (kids ?? []).reduce((sum, kid) => sum + keptText(kid), json?.length ?? 0);

test(
  'after any steps a tree has the export, thread and hashes of the naive implementation, both updated step by step and computed from scratch',
  {
    tags: [
      'snapshots:tree-hash',
      'snapshots:thread-hash',
      'context-tree§3.1',
      'context-tree§3.2',
      'context-tree§3.3',
    ],
  },
  () => {
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
          if (frame.snapshot !== null)
            expect([frame.snapshot.treeHash, frame.snapshot.threadHash].map(toHex)).toEqual(
              [treeHash, threadHash].map(toHex),
            );
          expect(frame.state.tree.loadedText).toBe(keptText(frame.state.tree.root));
          const flat = flattenTree(frame.state.tree);
          const fromNothing = hashFlat(flat, pair.history.payload, thread);
          expect([toHex(fromNothing.treeHash), toHex(fromNothing.threadHash)]).toEqual(
            [treeHash, threadHash].map(toHex),
          );
        });
      }),
      { numRuns: runs(40) },
    );
  },
);

test(
  'a tree loaded from records has the hashes of its snapshot and requests all payloads at once; an undone change does not affect later hashes',
  { tags: ['snapshots:tree-hash', 'snapshots:thread-hash'] },
  () => {
    fc.assert(
      fc.property(script, fc.constantFrom('full' as const, 'pre' as const), (wishes, thread) => {
        const pair = newHistoryPair(thread);
        const { payload } = pair.history;
        wishes.forEach((wish, at) => {
          const snapshot = applyToBoth(pair, wish, at)?.frame;
          if (snapshot?.snapshot == null || at % 4 !== 0) return;
          const hashes = ({ treeHash, threadHash }: Hashes): string[] => [treeHash, threadHash].map(toHex);
          const expected = hashes(snapshot.snapshot);
          const tree = new Tree(recordsOf(snapshot.state.tree), thread);
          const before = exportTree(flattenTree(tree), payload);
          const asked: EventRef[] = [];
          try {
            tree.hashes((ref) => {
              throw missing(PAYLOADS, [ref]);
            });
          } catch (error) {
            if (!isMissing<EventRef>(error, PAYLOADS)) throw error;
            asked.push(...error.needs);
          }
          const flat = flattenTree(tree);
          const needed = flat.payloads.filter(
            (ref, i) => ref !== null && i < flat.ah && (flat.kinds[i] as number) >= NODE_KIND.turn,
          ) as EventRef[];
          if (needed.length > 0)
            expect(new Set(asked.map((ref) => PAYLOADS.keyOf(ref)))).toEqual(
              new Set(needed.map((ref) => PAYLOADS.keyOf(ref))),
            );
          expect(hashes(tree.hashes(payload))).toEqual(expected);
          const savepoint = tree.savepoint();
          for (const name of ['sys', 'ah'] as const) {
            const parent = tree[name].record.headers;
            const headers = { ...parent, id: `new ${name}`, nodeType: 'cb', offset: -1 };
            tree.insert(parent.id, {
              headers,
              expires: null,
              payload: { seq: 0, index: 0 },
              contents: { content: 'x' },
            });
          }
          const turn = tree.turns.at(-1);
          if (turn !== undefined)
            tree.insert(turn.record.headers.id, {
              headers: { ...turn.record.headers, id: 'late', nodeType: 'cb', offset: -1 },
              expires: null,
              payload: { seq: 0, index: 0 },
              contents: { content: 'y' },
            });
          expect(hashes(tree.hashes(payload))).not.toEqual(expected);
          expect(tree.loadedText).toBe(keptText(tree.root));
          tree.rollbackTo(savepoint);
          expect(tree.loadedText).toBe(keptText(tree.root));
          expect(exportTree(flattenTree(tree), payload)).toBe(before);
          expect(hashes(tree.hashes(payload))).toEqual(expected);
        });
      }),
      { numRuns: runs(30) },
    );
  },
);

test(
  'a diff of two positions lists what comparing every field of every node lists',
  { tags: ['context-tree§7:shape'] },
  () => {
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
  },
);
