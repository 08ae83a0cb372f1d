import { sha256Hex } from '@stemma/canonical';
import {
  anyActs,
  HISTORY,
  naiveHistory,
  perform,
  rowsUnderTest,
  START,
  type NaiveHistory,
  type RowsUnderTest,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countStream, findStages, listStream } from '../../src/index.ts';
import { naiveStages, naiveStream } from './naive-stream.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? 40);

const compareAll = (history: NaiveHistory, under: RowsUnderTest): void =>
  under.rows.now((view) => {
    for (const strand of history.strands.keys())
      for (let seq = 0; seq < history.state.next; seq++) {
        const naive = naiveStream(history, strand, seq);
        const { named, hashes } = naiveStages(naive);
        const found = listStream(view, HISTORY, strand, seq);
        expect(found.map(({ facts: { id, digest, kind, turn } }) => ({ id, digest, kind, turn }))).toEqual(
          named.map(({ id, digest, kind, turn }) => ({ id, digest, kind, turn })),
        );
        expect(found.map(({ ordinal }) => ordinal)).toEqual(named.map((_, i) => i));
        expect(countStream(view, HISTORY, strand, seq)).toBe(named.length);
        const stages = findStages(view, HISTORY, strand, seq);
        if (stages !== undefined)
          expect({ nodeHash: stages.nodeHash, z1: stages.z1, z2: stages.z2, z3: stages.z3 }).toEqual(hashes);
      }
  });

test('the stream of every position of every strand, and the hashes of its snapshots, are those of its chain recomputed from nothing [compiler-stages: our stream, compiler-stages: stages of cycles]', () => {
  fc.assert(
    fc.property(anyActs(1, 45), (acts) => {
      const under = rowsUnderTest();
      const history = naiveHistory(under.fold);
      history.run(0, [START]);
      for (const act of acts) perform(history, act);
      compareAll(history, under);
    }),
    { numRuns: RUNS },
  );
});

test('forks share the nodes of their parent and go on with their own, whatever either side adds [compiler-stages: our stream]', () => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold, HISTORY, 400);
  history.run(0, [START]);
  const say = (strand: number, count: number): void => {
    for (let i = 0; i < count; i++)
      history.run(strand, [
        { op: 'insert', parent: '^ah', node: { nodeType: 'cb', role: 'user', content: `${strand}-${i}` } },
        ...(i % 3 === 0 ? [{ op: 'commit' } as const] : []),
      ]);
  };
  say(0, 70);
  const fork = history.branch('fork', 0, 40)!.lineage;
  say(fork, 60);
  const inner = history.branch('fork', fork, history.state.next - 1)!.lineage;
  const early = history.branch('rollback', inner, 5)!.lineage;
  say(0, 80);
  say(inner, 75);
  say(early, 3);
  for (const strand of [0, fork, inner, early]) {
    const seq = history.state.next - 1;
    history.run(strand, [{ op: 'commit' }]);
    const { hashes } = naiveStages(naiveStream(history, strand, seq + 1));
    const found = under.rows.now((view) => findStages(view, HISTORY, strand, seq + 1))!;
    expect({ nodeHash: found.nodeHash, z1: found.z1, z2: found.z2, z3: found.z3 }).toEqual(hashes);
  }
});

test('a stream without nodes hashes as the empty list [compiler-stages: hashes]', () => {
  expect(naiveStages([]).hashes.nodeHash).toBe(sha256Hex('[]'));
});
