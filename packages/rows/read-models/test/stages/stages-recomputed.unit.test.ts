import { sha256Hex } from '@stemma/canonical';
import {
  anyOperations,
  HISTORY,
  naiveHistory,
  perform,
  rowsUnderTest,
  sized,
  START,
  type NaiveHistory,
  type RowsUnderTest,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileStages, profileNamed, readConfig } from '@stemma/stages';
import { countStream, findSnapshotStages, listStream, type StageNode } from '../../src/index.ts';
import { naiveStages, naiveStream } from './naive-stream.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(16, 40));

/** All four hashes, from the nodes in the rows. */
const compiledHashes = (nodes: readonly StageNode[]) => {
  const profile = profileNamed('stemma-1');
  const facts = nodes.map((node) => node.facts);
  const { hashes } = compileStages({ profile, nodes: facts, config: readConfig(profile, null) });
  const { node_hash: nodeHash, ...rest } = hashes;
  return { nodeHash, ...rest };
};

const compareAll = (history: NaiveHistory, under: RowsUnderTest): void =>
  under.rows.now((view) => {
    for (const branchId of history.branches.keys())
      for (let seq = 0; seq < history.state.next; seq++) {
        const naive = naiveStream(history, branchId, seq);
        const { named, hashes } = naiveStages(naive);
        const found = listStream(view, HISTORY, branchId, seq);
        expect(found.map(({ facts: { id, digest, kind, turn } }) => ({ id, digest, kind, turn }))).toEqual(
          named.map(({ id, digest, kind, turn }) => ({ id, digest, kind, turn })),
        );
        expect(found.map(({ ordinal }) => ordinal)).toEqual(named.map((_, i) => i));
        expect(countStream(view, HISTORY, branchId, seq)).toBe(named.length);
        const stages = findSnapshotStages(view, HISTORY, branchId, seq);
        if (stages !== undefined)
          expect({ ...compiledHashes(found), nodeHash: stages.nodeHash, z1: stages.z1 }).toEqual(hashes);
      }
  });

test(
  'the stream of every position of every branch, and the hashes of its snapshots, are those of its ancestor path recomputed from nothing',
  { tags: ['compiler-stages:our-stream', 'compiler-stages:stages-of-cycles'] },
  () => {
    fc.assert(
      fc.property(anyOperations(1, 45), (actions) => {
        const under = rowsUnderTest();
        const history = naiveHistory(under.fold);
        history.run(0, [START]);
        for (const action of actions) perform(history, action);
        compareAll(history, under);
      }),
      { numRuns: RUNS },
    );
  },
);

test(
  'forks share the nodes of their parent and go on with their own, whatever either side adds',
  { tags: ['compiler-stages:our-stream'] },
  () => {
    const under = rowsUnderTest();
    const history = naiveHistory(under.fold, HISTORY, 400);
    history.run(0, [START]);
    const say = (branchId: number, count: number): void => {
      for (let i = 0; i < count; i++)
        history.run(branchId, [
          {
            op: 'insert',
            parent: '^ah',
            node: { nodeType: 'cb', role: 'user', content: `${branchId}-${i}` },
          },
          ...(i % 3 === 0 ? [{ op: 'commit' } as const] : []),
        ]);
    };
    say(0, 70);
    const fork = history.branch('fork', 0, 40)!.branchId;
    say(fork, 60);
    const inner = history.branch('fork', fork, history.state.next - 1)!.branchId;
    const early = history.branch('rollback', inner, 5)!.branchId;
    say(0, 80);
    say(inner, 75);
    say(early, 3);
    for (const branchId of [0, fork, inner, early]) {
      const seq = history.state.next - 1;
      history.run(branchId, [{ op: 'commit' }]);
      const { hashes } = naiveStages(naiveStream(history, branchId, seq + 1));
      const found = under.rows.now((view) => findSnapshotStages(view, HISTORY, branchId, seq + 1))!;
      expect({ nodeHash: found.nodeHash, z1: found.z1 }).toEqual({
        nodeHash: hashes.nodeHash,
        z1: hashes.z1,
      });
    }
  },
);

test('a stream without nodes hashes as the empty list', { tags: ['compiler-stages:hashes'] }, () => {
  expect(naiveStages([]).hashes.nodeHash).toBe(sha256Hex('[]'));
});
