import { diffTrees, exportTree, flattenRecords, type PayloadSource } from '@stemma/context-tree';
import { payloadIn, type Step } from '@stemma/history';
import {
  anyOperations,
  HISTORY,
  naiveHistory,
  perform,
  rowsUnderTest,
  START,
  type RandomOperation,
  sized,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDiffCandidates } from '../src/index.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(20, 60));
const TIMEOUT = 600_000;
/** More than any of these histories has. */
const ALL = 1_000_000;

const play = (actions: readonly RandomOperation[], first: Step = START) => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold);
  history.run(0, [first]);
  for (const action of actions) perform(history, action);
  const source: PayloadSource = ({ seq, index }) =>
    payloadIn(history.frames[seq]?.body.events[index] as never);
  return { history, under, source };
};

const compare = (
  { history, under, source }: ReturnType<typeof play>,
  a: readonly [number, number],
  b: readonly [number, number],
): void => {
  const place = ([branchId, seq]: readonly [number, number]) => ({ branchId, seq });
  const ends = { a: place(a), b: place(b) };
  const parts = under.rows.now((view) => readDiffCandidates(view, HISTORY, ends, ALL));
  if (parts === undefined) throw new Error('there is nothing that is too much');
  const whole = diffTrees(flattenRecords(history.copyAt(...a)), flattenRecords(history.copyAt(...b)), source);
  expect(diffTrees(parts.older, parts.newer, source, parts.ids)).toEqual(whole);
};

test(
  'the diff of what can have changed is the diff of the trees, between any two positions of lines, forks and branches that were left [context-tree §7: shape, §7: order]',
  () => {
    fc.assert(
      fc.property(
        anyOperations(1, 60),
        fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat()), { maxLength: 20 }),
        (actions, pairs) => {
          const told = play(actions);
          const { state, branches: branchIds } = told.history;
          const names = [...branchIds.keys()];
          const pick = (branchId: number, seq: number): [number, number] => [
            names[branchId % names.length] as number,
            seq % state.next,
          ];
          for (const [s, q, t, r] of pairs) compare(told, pick(s, q), pick(t, r));
          for (const branchId of names)
            for (let seq = Math.max(1, branchId); seq < state.next; seq++)
              compare(told, [branchId, seq - 1], [branchId, seq]);
        },
      ),
      { numRuns: RUNS },
    );
  },
  TIMEOUT,
);

test(
  'the same holds for a history that begins with an export [context-tree §7: shape, §10.17]',
  () => {
    fc.assert(
      fc.property(anyOperations(1, 40), anyOperations(1, 30), fc.nat(), fc.nat(), (actions, more, q, r) => {
        const { history, source } = play(actions);
        const tree = flattenRecords(history.copyAt(0, history.state.next - 1));
        const told = play(more, { op: 'import', name: null, export: exportTree(tree, source) });
        const { next } = told.history.state;
        for (const branchId of told.history.branches.keys())
          compare(told, [branchId, q % next], [branchId, r % next]);
      }),
      { numRuns: RUNS },
    );
  },
  TIMEOUT,
);

const block = (id: string, more: object = {}): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', role: 'user', kind: 'text', content: id, ...more },
});

test('what changed beside a thousand nodes is read in a few rows; what is too much is left to the trees [context-tree §7: shape]', () => {
  const { history, under, source } = play([], { op: 'start', name: null });
  const many = Array.from({ length: 1_000 }, (_, i) => block(`n${i}`));
  history.run(0, [...many, block('old', { ttl: 4 }), { op: 'commit' }]);
  history.run(0, [block('one'), { op: 'commit' }]);
  history.run(0, [block('two'), { op: 'commit' }]);
  let read = 0;
  const at = (seq: number) => ({ branchId: 0, seq });
  const parts = under.rows.now((view) =>
    readDiffCandidates(
      {
        get: (table, key) => view.get(table, key),
        range: (table, range) => {
          const found = view.range(table, range);
          read += found.length;
          return found;
        },
      },
      HISTORY,
      { a: at(2), b: at(3) },
    ),
  );
  if (parts === undefined) throw new Error('it is little');
  const { added, removed, changed } = diffTrees(parts.older, parts.newer, source, parts.ids);
  expect([added.length, removed, changed]).toEqual([2, [], [{ id: 'old', fields: ['ttl'] }]]);
  expect(read).toBeLessThan(60);
  expect(under.rows.now((view) => readDiffCandidates(view, HISTORY, { a: at(0), b: at(3) }))).toBeUndefined();
});
