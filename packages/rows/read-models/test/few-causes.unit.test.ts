import { diffTrees, flattenRecords, type EventRef, type FlatTree } from '@stemma/context-tree';
import type { BranchPosition, HistoryEvent } from '@stemma/events';
import { payloadIn, type Step } from '@stemma/history';
import { HISTORY, naiveHistory, rowsUnderTest } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import type { RowChange } from '@stemma/row-store';
import {
  explainDiff,
  listChangedNodes,
  presenceOf,
  readAncestryView,
  readNodeChanges,
  readTimeline,
} from '../src/index.ts';

const COMMIT: Step = { op: 'commit' };
const block = (id: string, more: object = {}): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', ...more },
});
const TABLES = ['timeline', 'changed_nodes'];

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

test(
  'a commit that makes 500 nodes older and seals 500 writes one row of causes, that of the frame',
  { tags: ['context-tree§3:one-cause', 'record§3:consequences'] },
  () => {
    const { wrote } = told();
    const nodes = Array.from({ length: 500 }, (_, i) => block(`n${i}`, { ttl: 9 }));
    expect(wrote(...nodes)).toEqual([500, 1]);
    expect(wrote(COMMIT)).toEqual([0, 1]);
    expect(wrote(COMMIT)).toEqual([0, 0]);
    expect(wrote(COMMIT)).toEqual([0, 0]);
  },
);

test(
  'a fork writes no row of causes, and what it sees of a node ends where it left its parent',
  { tags: ['snapshots:branches'] },
  () => {
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
  },
);

test(
  'the timeline of a node lists in order that it was held, and that it left with what held it',
  { tags: ['context-tree§3:holds', 'context-tree§3:one-cause'] },
  () => {
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
  },
);

test(
  '64 nodes that a frame inserts stand in its row and a 65th gives each its own; what they say is the same',
  { tags: ['context-tree§3:one-cause'] },
  () => {
    const { history, under, wrote } = told();
    const node = (frame: string) => (_: unknown, i: number) =>
      block(`${frame}${i}`, {
        ...(i % 2 === 0 ? {} : { ttl: i }),
        ...(i % 3 === 0 ? {} : { priority: i / 4 }),
      });
    const replaced: Step = { op: 'replace', id: 'few3', set: { content: 'x' } };
    expect(wrote(...Array.from({ length: 64 }, node('few')), replaced)).toEqual([1, 1]);
    expect(wrote(...Array.from({ length: 65 }, node('many')))).toEqual([65, 1]);
    under.rows.now((view) => {
      const ancestry = readAncestryView(view, HISTORY, 0, history.state.next - 1);
      const changesOf = (id: string): unknown[] =>
        readNodeChanges(view, HISTORY, id).map((change) => ({ ...change, id: '', seq: 0 }));
      for (let i = 0; i < 64; i++) {
        const [inserted, ...more] = changesOf(`few${i}`);
        expect([inserted]).toEqual(changesOf(`many${i}`));
        expect(more.length).toBe(i === 3 ? 1 : 0);
      }
      expect(presenceOf(view, ancestry, 'few0')).toMatchObject({
        added: { branchId: 0, seq: 1, index: 0, cycle: 1 },
      });
      expect(readNodeChanges(view, HISTORY, 'nobody')).toEqual([]);
    });
  },
);

test('a node whose insertion is missing from the row of its frame is damage, and nothing else is said of it', async () => {
  const { under, wrote } = told();
  wrote(block('a'));
  wrote({ op: 'replace', id: 'a', set: { content: 'x' } });
  const { table } = under.writes[1]?.find(({ table: { name } }) => name === 'changed_nodes') as RowChange;
  const expected = under.rows.now((view) => view.cursor(0));
  await under.rows.commit({
    ...{ partition: 0, expected, cursor: Uint8Array.of(9) },
    changes: [{ table, key: [HISTORY, 0, 1], value: null }],
  });
  expect(() => under.rows.now((view) => readNodeChanges(view, HISTORY, 'a'))).toThrow(
    expect.objectContaining({ code: 'E_ROWS_DAMAGED' }),
  );
});

test('the nodes that frames changed are listed by frame, each once, first those that it inserted', () => {
  const { under, wrote } = told();
  wrote(block('a'), block('b'), { op: 'replace', id: 'a', set: { content: 'x' } });
  wrote({ op: 'replace', id: 'b', set: { content: 'x' } }, block('c'), COMMIT);
  under.rows.now((view) =>
    expect(listChangedNodes(view, HISTORY, 0, 1, 2)).toEqual([
      { seq: 1, nodes: ['a', 'b'] },
      { seq: 2, nodes: ['c', 't:0:1', 'b'] },
    ]),
  );
});

test(
  'a frame that changes a node and changes it back is no cause of what differs; the frames that made the difference are',
  { tags: ['context-tree§3:one-cause'] },
  () => {
    const { history, under, wrote } = told();
    const content = (text: string): Step => ({ op: 'replace', id: 'a', set: { content: text } });
    const priority = (value: number): Step => ({
      op: 'priorities',
      priorities: [{ id: 'a', priority: value }],
    });
    const move = (parent: string): Step => ({ op: 'move', id: 'a', parent });
    wrote(
      { op: 'insert', parent: '^sys', node: { id: 'box', nodeType: 'mc' } },
      block('a', { content: 'A' }),
    );
    wrote(content('B'), content('A'), priority(7), priority(0), move('box'), move('^ah'));
    wrote(content('C'), priority(1), move('box'));
    wrote(content('D'), content('C'), priority(2), priority(1), move('^sys'), move('box'));
    const payload = ({ seq, index }: EventRef) =>
      payloadIn(history.frames[seq]?.body.events[index] as HistoryEvent);
    const causes = (from: number, to: number): unknown[] => {
      const [a, b] = [from, to].map((seq) => ({ branchId: 0, seq })) as [BranchPosition, BranchPosition];
      const [older, newer] = [a, b].map(({ seq }) => flattenRecords(history.copyAt(0, seq)));
      const diff = diffTrees(older as FlatTree, newer as FlatTree, payload);
      return under.rows.now((view) =>
        explainDiff(view, HISTORY, { a, b, diff }, payload).entries.map((entry) => [
          entry.id,
          entry.causes.flatMap(({ seq, fields }) => fields.map((field) => `${field} ${seq}`)),
        ]),
      );
    };
    const made = ['a', ['content_hash 3', 'priority 3', 'parent 3']];
    expect([causes(1, 2), causes(1, 3), causes(1, 4), causes(2, 4), causes(3, 4)]).toEqual([
      [],
      [made],
      [made],
      [made],
      [],
    ]);
  },
);
