import { recordsOf, UNLOADED, type Tree } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import type { Step } from '@stemma/history';
import type { RowReader, Table } from '@stemma/row-store';
import { isMissing } from '@stemma/suspend';
import { anyOperations, HISTORY, naiveHistory, rowsUnderTest, sized, START } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { checkLoadedBranch, loadBranchFromRows, loadTurns } from '../src/index.ts';
import { HASH_SUMS, POSITION_META, SNAPSHOTS, TURN_SUMS, TURNS, VERSIONS } from '../src/tables.ts';
import { rowsOf, rowsWithoutOne } from './rows-without.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(5, 30));
const REMOVED: readonly Table[] = [TURN_SUMS, HASH_SUMS, TURNS, VERSIONS, SNAPSHOTS, POSITION_META];
const COMMIT: Step = { op: 'commit' };

/** Calls `read` until the tree has the turns that it needs. */
const withTurns = <T>(rows: RowReader, payload: Parameters<typeof loadTurns>[3], read: () => T): T => {
  for (;;)
    try {
      return read();
    } catch (error) {
      if (!isMissing(error, UNLOADED)) throw error;
      loadTurns(rows, HISTORY, error.needs, payload);
    }
};

const byId = (tree: Tree) => {
  const { nodes, turns, ...rest } = recordsOf(tree);
  return {
    ...rest,
    turns: new Map(turns.map((turn) => [turn.headers.id, turn])),
    nodes: new Map(nodes.map((node) => [node.headers.id, node])),
  };
};

it(
  'a branch that is loaded turn by turn has the nodes, counts and hashes of the branch',
  { tags: ['decision-0073'] },
  () => {
    fc.assert(
      fc.property(anyOperations(8, 40), (actions) => {
        const { rows: recorded, history } = rowsOf(actions);
        recorded.now((view) => {
          for (const [branchId, { copies }] of history.branches)
            for (const seq of copies.keys()) {
              const branch = loadBranchFromRows(view, HISTORY, branchId, seq);
              checkLoadedBranch(view, HISTORY, branch, history.payload);
              const { tree } = branch;
              const { counts } = tree;
              withTurns(view, history.payload, () => tree.requireWhole());
              expect(tree.counts).toEqual(counts);
              const copy = history.copyAt(branchId, seq);
              const right = {
                nodes: new Map(Array.from(copy.nodes, (node) => [node.headers.id, node])),
                turns: new Map(Array.from(copy.turns, (turn) => [turn.headers.id, turn])),
              };
              const { nodes, turns } = byId(tree);
              expect(nodes).toEqual(right.nodes);
              expect(turns).toEqual(right.turns);
            }
        });
      }),
      { numRuns: RUNS },
    );
  },
);

it(
  'when any single row of a branch is missing, whoever loads it to write gets the branch or an error',
  { tags: ['decision-0073'] },
  () => {
    fc.assert(
      fc.property(anyOperations(8, 30), (actions) => {
        const { rows: recorded, history } = rowsOf(actions);
        const load = (rows: RowReader, branchId: number) => {
          const branch = loadBranchFromRows(rows, HISTORY, branchId, null);
          checkLoadedBranch(rows, HISTORY, branch, history.payload);
          withTurns(rows, history.payload, () => branch.tree.requireWhole());
          return { ...branch, tree: byId(branch.tree) };
        };
        recorded.now((view) => {
          for (const branchId of history.branches.keys()) {
            const right = load(view, branchId);
            for (const { missing, fewer } of rowsWithoutOne(view, REMOVED)) {
              let found: unknown;
              try {
                found = load(fewer, branchId);
              } catch (error) {
                if (!isStemmaError(error, 'E_ROWS_DAMAGED')) throw error;
                continue;
              }
              expect(found, missing).toEqual(right);
            }
          }
        });
      }),
      { numRuns: RUNS },
    );
  },
);

/** The rows of a table that are read, while `fn` runs. */
const counting = (rows: RowReader): { readonly rows: RowReader; readonly read: Map<string, number> } => {
  const read = new Map<string, number>();
  const count = (table: Table, more: number): void =>
    void read.set(table.name, (read.get(table.name) ?? 0) + more);
  return {
    read,
    rows: {
      get: (table, key) => (count(table, 1), rows.get(table, key)),
      range: (table, range) => {
        const found = rows.range(table, range);
        count(table, found.length);
        return found;
      },
    },
  };
};

test(
  'to write after many turns a writer reads only the nodes of turns that a commit may have to look into',
  { tags: ['decision-0073'] },
  () => {
    const under = rowsUnderTest();
    const history = naiveHistory(under.fold, HISTORY, 2);
    history.run(0, [START]);
    const block = (id: string, more: object = {}): Step => ({
      op: 'insert',
      parent: '^ah',
      node: { id, nodeType: 'cb', content: id, ...more },
    });
    for (let i = 0; i < 200; i++) history.run(0, [block(`q${i}`), block(`a${i}`), COMMIT]);
    history.run(0, [block('short', { ttl: 3 }), block('long'), COMMIT]);
    under.rows.now((view) => {
      const { rows, read } = counting(view);
      const payloads: number[] = [];
      const payload: typeof history.payload = (ref) => (payloads.push(ref.seq), history.payload(ref));
      const branch = loadBranchFromRows(rows, HISTORY, 0, null);
      checkLoadedBranch(rows, HISTORY, branch, payload);
      // Root and three regions, the two blocks of the newest turn.
      expect(read.get('versions')).toBe(6);
      expect(new Set(payloads)).toEqual(new Set([history.state.next - 1]));
      expect(branch.tree.loadedNodes).toBe(4 + 201 + 2);
      withTurns(rows, payload, () => branch.tree.get('q7'));
      expect(branch.tree.loadedNodes).toBe(4 + 201 + 4);
      expect(read.get('versions')).toBeLessThan(20);
      expect(withTurns(rows, payload, () => branch.tree.get('nobody'))).toBeUndefined();
    });
  },
);

test(
  'the turns of a branch are read once to check it, also after its newest snapshot',
  { tags: ['decision-0073'] },
  () => {
    const under = rowsUnderTest();
    const history = naiveHistory(under.fold);
    history.run(0, [START]);
    const block = (id: string): Step => ({
      op: 'insert',
      parent: '^ah',
      node: { id, nodeType: 'cb', content: id },
    });
    for (let i = 0; i < 50; i++) history.run(0, [block(`q${i}`), COMMIT]);
    const turnsRead = (): number | undefined =>
      under.rows.now((view) => {
        const { rows, read } = counting(view);
        checkLoadedBranch(rows, HISTORY, loadBranchFromRows(rows, HISTORY, 0, null), history.payload);
        return read.get('turns');
      });
    expect(turnsRead()).toBe(50);
    history.run(0, [{ op: 'annotate', note: 'no node' }]);
    expect(turnsRead()).toBe(50);
    history.run(0, [block('open'), block('too')]);
    expect(turnsRead()).toBe(50);
  },
);

test(
  'nodes of a turn that are not those of its digest are refused when they are loaded',
  { tags: ['decision-0073'] },
  () => {
    const under = rowsUnderTest();
    const history = naiveHistory(under.fold);
    history.run(0, [START]);
    const node = { id: 'q', nodeType: 'cb', content: 'right' };
    history.run(0, [{ op: 'insert', parent: '^ah', node }, COMMIT]);
    under.rows.now((view) => {
      const branch = loadBranchFromRows(view, HISTORY, 0, null);
      checkLoadedBranch(view, HISTORY, branch, history.payload);
      const wrong: typeof history.payload = (ref) => ({ ...history.payload(ref), content: 'wrong' });
      expect(() => withTurns(view, wrong, () => branch.tree.get('q'))).toThrow(
        expect.objectContaining({ code: 'E_ROWS_DAMAGED' }),
      );
    });
  },
);
