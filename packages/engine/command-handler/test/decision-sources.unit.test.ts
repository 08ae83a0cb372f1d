import { PAYLOADS, type PayloadSource } from '@stemma/context-tree';
import type { Projection } from '@stemma/projector';
import type { RowReader } from '@stemma/row-store';
import { fetching, missing, resume } from '@stemma/suspend';
import { HISTORY, naiveHistory, rowsUnderTest, START } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { openHistoryRows } from '../src/decision-sources.ts';

test(
  'a branch is loaded once, though it is checked with payloads that must be fetched',
  { tags: ['decision-0073'] },
  async () => {
    const under = rowsUnderTest();
    const history = naiveHistory(under.fold);
    history.run(0, [START]);
    // What is under ^sys is hashed at each load.
    history.run(0, [{ op: 'insert', parent: '^sys', node: { nodeType: 'cb', content: 'rules' } }]);
    for (let i = 0; i < 20; i++)
      history.run(0, [
        { op: 'insert', parent: '^ah', node: { id: `q${i}`, nodeType: 'cb', content: `${i}` } },
        { op: 'commit' },
      ]);
    let turns = 0;
    const counted = (view: RowReader): RowReader => ({
      get: (table, key) => view.get(table, key),
      range: (table, range) => {
        const found = view.range(table, range);
        if (table.name === 'turns') turns += found.length;
        return found;
      },
    });
    const fetched = new Set<number>();
    const source: PayloadSource = (ref) => {
      if (!fetched.has(ref.seq)) throw missing(PAYLOADS, [ref]);
      return history.payload(ref);
    };
    const projection = {
      read: async (fn: (view: RowReader) => unknown) => under.rows.now((view) => fn(counted(view))),
      payloads: {
        using: (_: string, fn: (source: PayloadSource) => unknown) =>
          resume(
            () => fn(source),
            fetching(PAYLOADS, (refs) => {
              for (const { seq } of refs) fetched.add(seq);
            }),
          ),
      },
    } as unknown as Projection;
    const branch = await openHistoryRows(projection, HISTORY).readFacts((facts) =>
      facts.branchState(0, null, history.state.next),
    );
    expect(branch.tree.counts.turns).toBe(20);
    expect(fetched.size).toBeGreaterThan(0);
    expect(turns).toBe(20);
  },
);
