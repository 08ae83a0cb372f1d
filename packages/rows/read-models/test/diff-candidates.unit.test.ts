import { diffTrees, flattenRecords } from '@stemma/context-tree';
import type { Step } from '@stemma/history';
import { HISTORY } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { readDiffCandidates } from '../src/index.ts';
import {
  compareAfterImport,
  compareRandomPositions,
  playHistory,
  type PlayedHistory,
  type PlayedPosition,
} from './played-history.ts';

const TIMEOUT = 600_000;
/** More than any of these histories has. */
const ALL = 1_000_000;

const compare = ({ history, under, source }: PlayedHistory, a: PlayedPosition, b: PlayedPosition): void => {
  const place = ([branchId, seq]: PlayedPosition) => ({ branchId, seq });
  const ends = { a: place(a), b: place(b) };
  const parts = under.rows.now((view) => readDiffCandidates(view, HISTORY, ends, { maxIds: ALL }));
  if (parts === undefined) throw new Error('there is nothing that is too much');
  const whole = diffTrees(flattenRecords(history.copyAt(...a)), flattenRecords(history.copyAt(...b)), source);
  expect(diffTrees(parts.older, parts.newer, source, parts.ids)).toEqual(whole);
};

test(
  'the diff of the nodes that can have changed is the diff of the trees, between any two positions of branches, forks and abandoned branches',
  { tags: ['context-tree§7:shape', 'context-tree§7:order'], timeout: TIMEOUT },
  () => compareRandomPositions(playHistory, compare),
);

test(
  'the same holds for a history that begins with an export',
  { tags: ['context-tree§7:shape', 'context-tree§10.17'], timeout: TIMEOUT },
  () => compareAfterImport(playHistory, compare),
);

const block = (id: string, more: object = {}): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', role: 'user', kind: 'text', content: id, ...more },
});

test(
  'a change beside a thousand nodes is found in a few rows; too many changes are found by comparing the trees',
  { tags: ['context-tree§7:shape'] },
  () => {
    const { history, under, source } = playHistory([], { op: 'start', name: null });
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
    expect(
      under.rows.now((view) => readDiffCandidates(view, HISTORY, { a: at(0), b: at(3) })),
    ).toBeUndefined();
  },
);
