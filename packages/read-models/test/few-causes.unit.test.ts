import type { Step } from '@stemma/history';
import { HISTORY, naiveHistory, rowsUnderTest } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { listChangedNodes, presenceOf, readAncestryView, readTimeline } from '../src/index.ts';

const COMMIT: Step = { op: 'commit' };
const block = (id: string, more: object = {}): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', ...more },
});
const TABLES = ['timeline', 'changed_nodes', 'cycles'];

const told = () => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold);
  history.run(0, [{ op: 'start', name: null }]);
  return {
    history,
    under,
    /** How many rows of each table of the model a command wrote. */
    wrote: (...steps: Step[]): number[] => {
      if (history.run(0, steps) === undefined) throw new Error('the command was refused');
      const changes = under.writes.at(-1) ?? [];
      return TABLES.map((name) => changes.filter(({ table }) => table.name === name).length);
    },
  };
};

test('a commit that makes 500 nodes older and seals 500 writes three rows of causes: its turn, the frame and the cycle [context-tree §3: one cause] [record §3: consequences]', () => {
  const { wrote } = told();
  const nodes = Array.from({ length: 500 }, (_, i) => block(`n${i}`, { ttl: 9 }));
  expect(wrote(...nodes)).toEqual([500, 1, 0]);
  expect(wrote(COMMIT)).toEqual([1, 1, 1]);
  expect(wrote(COMMIT)).toEqual([0, 0, 1]);
  expect(wrote(COMMIT)).toEqual([0, 0, 1]);
});

test('a fork writes no row of causes, and what it sees of a node ends where it left its parent [snapshots: branches]', () => {
  const { history, under, wrote } = told();
  wrote(block('a', { ttl: 2 }), COMMIT);
  history.branch('fork', 0, 1);
  const fork = history.state.next - 1;
  expect((under.writes.at(-1) ?? []).filter(({ table }) => TABLES.includes(table.name))).toEqual([]);
  wrote(COMMIT);
  under.rows.now((view) => {
    const kinds = (branchId: number): string[] =>
      readTimeline(view, readAncestryView(view, HISTORY, branchId, history.state.next - 1), 'a').map(
        ({ cause }) => cause.kind,
      );
    expect(kinds(fork)).toEqual(['mutation', 'sealing']);
    expect(kinds(0)).toEqual(['mutation', 'sealing', 'ageing']);
  });
});

test('the moments of a life stand in order: held, and gone with what held it [context-tree §3: holds, §3: one cause]', () => {
  const { history, under, wrote } = told();
  wrote(block('kept', { ttl: 1 }), block('keeper', { ttl: 3, refs: ['kept'] }), COMMIT);
  for (let i = 0; i < 5; i++) wrote(COMMIT);
  under.rows.now((view) => {
    const ancestry = readAncestryView(view, HISTORY, 0, history.state.next - 1);
    expect(
      readTimeline(view, ancestry, 'kept').map(({ cause, cycle, until }) => [cause.kind, cycle, until]),
    ).toEqual([
      ['mutation', 1, null],
      ['sealing', 1, null],
      ['ageing', 2, 2],
      ['hold', 3, null],
      ['expiry', 5, null],
    ]);
    expect(presenceOf(view, ancestry, 'kept')).toMatchObject({
      snapshots: { first: 1, last: 4 },
      removed: { cycle: 5, cause: { kind: 'expiry' } },
    });
    expect(presenceOf(view, ancestry, 'nobody')).toBeUndefined();
  });
});

test('the nodes that frames changed are listed by frame, each once', () => {
  const { under, wrote } = told();
  wrote(block('a'), block('b'), { op: 'replace', id: 'a', set: { content: 'x' } });
  wrote(COMMIT);
  under.rows.now((view) =>
    expect(listChangedNodes(view, HISTORY, 0, 1, 2)).toEqual([
      { seq: 1, nodes: ['a', 'b'] },
      { seq: 2, nodes: ['t:0:1'] },
    ]),
  );
});
