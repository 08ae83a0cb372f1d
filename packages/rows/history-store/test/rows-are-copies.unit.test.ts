import { compareCodePoints } from '@stemma/canonical';
import type { TreeParts } from '@stemma/context-tree';
import {
  anyOperations,
  HISTORY,
  naiveHistory,
  perform,
  rowsUnderTest,
  START,
  type NaiveHistory,
  type RandomOperation,
  type RowsUnderTest,
  sized,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isIdTaken,
  listSnapshots,
  readAncestorPath,
  readBranchState,
  readNode,
  readPositionMeta,
  readTipSeq,
  type Segment,
} from '../src/index.ts';
import type { PositionMeta } from '../src/position-meta.ts';
import { readSegments } from '../src/read-position.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(20, 60));

type Both = { readonly history: NaiveHistory; readonly under: RowsUnderTest };

const play = (actions: readonly RandomOperation[]): Both => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold);
  history.run(0, [START]);
  for (const action of actions) perform(history, action);
  return { history, under };
};

const byId = (a: { headers: { id: string } }, b: { headers: { id: string } }): number =>
  compareCodePoints(a.headers.id, b.headers.id);
const sorted = ({ cycle, fixed, turns, nodes }: TreeParts): TreeParts => ({
  cycle,
  fixed,
  turns: [...turns].sort(byId),
  nodes: [...nodes].sort(byId),
});

/** Every position of every branch, also before its beginning, where its ancestors' past is meant. */
function* positions({
  branches: branchIds,
  state,
}: NaiveHistory): Generator<[branchId: number, seq: number]> {
  for (const branchId of branchIds.keys()) for (let seq = 0; seq < state.next; seq++) yield [branchId, seq];
}

/** True if the rows of every position, read with an ancestor path and a mark that `change` may spoil, are the copies. */
const allEqual = (
  { history, under }: Both,
  change: (
    ancestorPath: readonly Segment[],
    meta: PositionMeta,
    branchId: number,
  ) => [readonly Segment[], PositionMeta] = (ancestorPath, meta) => [ancestorPath, meta],
): boolean =>
  under.rows.now((view) => {
    for (const [branchId, seq] of positions(history)) {
      const ancestorPath = readAncestorPath(view, HISTORY, branchId, seq);
      const parts = readSegments(
        view,
        HISTORY,
        ...change(ancestorPath, readPositionMeta(view, HISTORY, branchId, seq).meta, branchId),
      );
      if (!isSame(sorted(parts), sorted(history.copyAt(branchId, seq)))) return false;
    }
    return true;
  });

const isSame = (a: unknown, b: unknown): boolean => {
  try {
    expect(a).toEqual(b);
    return true;
  } catch {
    return false;
  }
};

describe('the rows of a random history with forks and rollbacks from any position', () => {
  it(
    'give at every position of every branch the tree of the copy made there, and the state on which commands are decided',
    { tags: ['snapshots:locations-and-rows', 'snapshots:read', 'snapshots:branches'] },
    () => {
      fc.assert(
        fc.property(anyOperations(1, 60), (actions) => {
          const { history, under } = play(actions);
          under.rows.now((view) => {
            for (const [branchId, seq] of positions(history)) {
              const { newest, nextIndex, policy, config, thread, ...parts } = readBranchState(
                view,
                HISTORY,
                branchId,
                seq,
              );
              const copy = history.copyAt(branchId, seq);
              expect(sorted(parts)).toEqual(sorted(copy));
              expect({ newest, nextIndex, policy, config, thread }).toEqual({
                newest: copy.newest,
                nextIndex: copy.nextIndex,
                policy: copy.policy,
                config: copy.config,
                thread: copy.thread,
              });
            }
            for (const [branchId, { copies }] of history.branches) {
              expect(readTipSeq(view, HISTORY, branchId)).toBe(Math.max(branchId, ...copies.keys()));
              const { name } = readBranchState(view, HISTORY, branchId, null);
              expect(name).toBe(history.state.loadedBranches.get(branchId)?.name ?? name);
            }
          });
        }),
        { numRuns: RUNS },
      );
    },
  );

  it(
    'find one node of any position without the rest, and no node that is not there',
    { tags: ['snapshots:ids'] },
    () => {
      fc.assert(
        fc.property(anyOperations(1, 40), (actions) => {
          const { history, under } = play(actions);
          under.rows.now((view) => {
            for (const [branchId, seq] of positions(history)) {
              const copy = history.copyAt(branchId, seq);
              const expected = new Map<string, unknown>();
              for (const record of copy.nodes) expected.set(record.headers.id, { kind: 'node', record });
              for (const record of copy.turns) expected.set(record.headers.id, { kind: 'turn', record });
              for (const record of Object.values(copy.fixed))
                expected.set(record.headers.id, { kind: 'fixed', record });
              for (const id of [...history.ids, 'nobody'])
                expect(readNode(view, HISTORY, branchId, seq, id)).toEqual(expected.get(id));
            }
            for (const id of history.ids) expect(isIdTaken(view, HISTORY, id)).toBe(true);
            expect(isIdTaken(view, HISTORY, 'nobody')).toBe(false);
          });
        }),
        { numRuns: RUNS / 2 },
      );
    },
  );

  it(
    'list the snapshots of every ancestor path, from either end and in pages',
    {
      tags: [
        'context-tree§5:positions',
        'context-tree§5:fork',
        'context-tree§5:rollback',
        'PACT-05§2.3',
        'PACT-05§6.3',
      ],
    },
    () => {
      fc.assert(
        fc.property(anyOperations(1, 60), fc.integer({ min: 1, max: 5 }), (actions, limit) => {
          const { history, under } = play(actions);
          under.rows.now((view) => {
            for (const branchId of history.branches.keys()) {
              const head = readTipSeq(view, HISTORY, branchId);
              const expected = snapshotsOf(history, branchId, head);
              const found = listSnapshots(view, HISTORY, branchId, head, { first: 'oldest' });
              expect(found.map(({ cycle, branchId: of, seq }) => [cycle, of, seq])).toEqual(expected);
              expect(listSnapshots(view, HISTORY, branchId, head)).toEqual([...found].reverse());
              const paged = [];
              for (let from = 0; ;) {
                const page = listSnapshots(view, HISTORY, branchId, head, { first: 'oldest', from, limit });
                if (page.length === 0) break;
                paged.push(...page);
                from = (page.at(-1)?.cycle ?? 0) + 1;
              }
              expect(paged).toEqual(found);
            }
          });
        }),
        { numRuns: RUNS / 2 },
      );
    },
  );
});

const snapshotsOf = (history: NaiveHistory, branchId: number, seq: number): number[][] => {
  const { parent, at } = history.branches.get(branchId) ?? { parent: null, at: 0 };
  const before = parent === null ? [] : snapshotsOf(history, parent, Math.min(seq, at));
  const own = history.frames
    .filter(({ envelope, body }) => body.branchId === branchId && envelope.seq <= seq)
    .flatMap(({ envelope, body }) =>
      body.events.flatMap((event) =>
        event.type === 'SnapshotCommitted' ? [[event.cycle, branchId, envelope.seq]] : [],
      ),
    );
  return [...before, ...own];
};

describe('simpler ways to read a branch give wrong trees', () => {
  const isCaught = (spoil: Parameters<typeof allEqual>[1], runs = 400): boolean =>
    fc.check(
      fc.property(anyOperations(20, 60), (actions) => allEqual(play(actions), spoil)),
      { numRuns: runs, seed: 1, endOnFailure: true },
    ).failed;

  it(
    'limiting an ancestor by its child’s `at` instead of the running minimum includes later frames of a grandparent',
    { tags: ['snapshots:branches'] },
    () => {
      expect(
        isCaught((ancestorPath, meta, _branchId) => [
          ancestorPath.map((segment, i) => ({
            ...segment,
            limit:
              ancestorPath.length - 1 === i
                ? segment.limit
                : Math.max(segment.limit, ancestorPath[i + 1]?.branchId ?? 0),
          })),
          meta,
        ]),
      ).toBe(true);
    },
  );

  it('reading a branch without its ancestors lacks the nodes from before the fork', () => {
    expect(isCaught((ancestorPath, meta) => [ancestorPath.slice(-1), meta])).toBe(true);
  });

  it(
    'reading ancestors without limits includes what they recorded after the fork',
    { tags: ['snapshots:branches'] },
    () => {
      expect(
        isCaught((ancestorPath, meta) => [
          ancestorPath.map((segment) => ({ ...segment, limit: Infinity })),
          meta,
        ]),
      ).toBe(true);
    },
  );
});
