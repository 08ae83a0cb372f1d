import type { Step } from '@stemma/history';
import type { RowChange } from '@stemma/row-store';
import { HISTORY, naiveHistory, rowsUnderTest, type NaiveHistory } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { readPosition, readPositionMeta } from '../src/index.ts';

const COMMIT: Step = { op: 'commit' };
const block = (id: string, more: object = {}, parent = '^ah'): Step => ({
  op: 'insert',
  parent,
  node: { id, nodeType: 'cb', ...more },
});

type Told = {
  readonly history: NaiveHistory;
  /** Runs a command on a branch and gives the rows that it wrote to a table: key and value, null for a removal. */
  readonly wrote: (
    table: string,
    branchId: number,
    ...steps: readonly Step[]
  ) => (readonly [unknown, unknown])[];
  readonly last: (table: string) => RowChange[];
  readonly ids: (branchId: number, seq: number) => string[];
  readonly mark: () => ReturnType<typeof readPositionMeta>['meta'];
};

const told = (): Told => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold);
  history.run(0, [{ op: 'start', name: null }]);
  const last = (table: string): RowChange[] =>
    (under.writes.at(-1) ?? []).filter((change) => change.table.name === table);
  return {
    history,
    last,
    wrote: (table, branchId, ...steps) => {
      if (history.run(branchId, steps) === undefined) throw new Error('the command was refused');
      return last(table).map(({ key, value }) => [key, value]);
    },
    ids: (branchId, seq) =>
      under.rows.now((view) =>
        [...readPosition(view, HISTORY, branchId, seq).nodes].map(({ headers }) => headers.id),
      ),
    mark: () => under.rows.now((view) => readPositionMeta(view, HISTORY, 0, history.state.next - 1).meta),
  };
};

test(
  'a fork of an open head writes its branch id and nothing else, and sealing on both sides rewrites no node',
  { tags: ['snapshots:open-head', 'snapshots:writes'] },
  () => {
    const { history, wrote, last, ids } = told();
    const nodes = Array.from({ length: 3_000 }, (_, i) => block(`n${i}`));
    wrote('versions', 0, ...nodes);
    const fork = history.branch('fork', 0, 1);
    expect(
      ['branches', 'versions', 'ids', 'turns', 'position_meta', 'snapshots', 'heads'].map(
        (table) => last(table).length,
      ),
    ).toEqual([1, 0, 0, 0, 0, 0, 0]);
    const branchId = fork?.branchId ?? -1;
    expect([wrote('versions', branchId, COMMIT), last('turns').length]).toEqual([[], 1]);
    const own = history.state.next - 1;
    expect([wrote('versions', 0, COMMIT), last('turns').length]).toEqual([[], 1]);
    for (const [of, seq] of [
      [branchId, own],
      [0, own + 1],
    ] as const)
      expect(ids(of, seq)).toHaveLength(3_000);
  },
);

test(
  'a due node that is held gets one row without an expiry, and a tombstone when its holder goes',
  { tags: ['snapshots:held'] },
  () => {
    const { wrote, ids, history } = told();
    wrote('versions', 0, block('named', { ttl: 0 }), block('holder', { ttl: 1, refs: ['named'] }));
    const held = wrote('versions', 0, COMMIT);
    expect(held).toHaveLength(1);
    expect(held[0]?.[0]).toEqual(expect.arrayContaining(['named']));
    expect(held[0]?.[1]).not.toBeNull();
    expect(wrote('versions', 0, COMMIT)).toEqual([]);
    expect(ids(0, history.state.next - 1)).toEqual(expect.arrayContaining(['named', 'holder']));
    const gone = wrote('versions', 0, COMMIT);
    // The holder's own row says when it goes; what it held is told by a tombstone.
    expect(gone.map(([key]) => (key as unknown[]).includes('named'))).toEqual([true]);
    expect(ids(0, history.state.next - 1)).toEqual([]);
  },
);

test(
  'a late attachment to a turn older than all live nodes adds its cycle to the position metadata, so that readers find it',
  { tags: ['snapshots:late-attachment'] },
  () => {
    const { wrote, ids, mark, history } = told();
    wrote('versions', 0, block('short', { ttl: 1 }), { op: 'commit', turn_id: 'old' });
    for (let cycle = 2; cycle <= 60; cycle++) wrote('versions', 0, block(`b${cycle}`, { ttl: 3 }), COMMIT);
    expect([mark().oldestLive > 50, mark().olderLive]).toEqual([true, []]);
    wrote('versions', 0, block('late', { offset: 1 }, 'old'));
    expect(mark().olderLive).toEqual([1]);
    expect(ids(0, history.state.next - 1)).toContain('late');
    for (let cycle = 61; cycle <= 70; cycle++) wrote('versions', 0, block(`b${cycle}`, { ttl: 3 }), COMMIT);
    expect(ids(0, history.state.next - 1)).toContain('late');
  },
);
