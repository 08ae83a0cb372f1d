import { compareCodePoints } from '@stemma/canonical';
import type { TreeParts } from '@stemma/context-tree';
import { resolvePosition } from '@stemma/queries';
import {
  anyActs,
  HISTORY,
  naiveHistory,
  perform,
  rowsUnderTest,
  START,
  type Act,
  type NaiveHistory,
  type RowsUnderTest,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isIdTaken,
  listSnapshots,
  nearestMark,
  readChain,
  readHead,
  readLineage,
  readNode,
  type Link,
} from '../src/index.ts';
import type { Mark } from '../src/mark.ts';
import { readLinks } from '../src/read-position.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? 60);

type Both = { readonly history: NaiveHistory; readonly under: RowsUnderTest };

const play = (acts: readonly Act[]): Both => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold);
  history.run(0, [START]);
  for (const act of acts) perform(history, act);
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

/** Every position of every strand, also before its beginning, where its ancestors' past is meant. */
function* positions({ strands, state }: NaiveHistory): Generator<[strand: number, seq: number]> {
  for (const strand of strands.keys()) for (let seq = 0; seq < state.next; seq++) yield [strand, seq];
}

/** True if the rows of every position, read with a chain and a mark that `change` may spoil, are the copies. */
const allEqual = (
  { history, under }: Both,
  change: (chain: readonly Link[], mark: Mark, strand: number) => [readonly Link[], Mark] = (chain, mark) => [
    chain,
    mark,
  ],
): boolean =>
  under.rows.now((view) => {
    for (const [strand, seq] of positions(history)) {
      const chain = readChain(view, HISTORY, strand, seq);
      const parts = readLinks(
        view,
        HISTORY,
        ...change(chain, nearestMark(view, HISTORY, strand, seq).mark, strand),
      );
      if (!isSame(sorted(parts), sorted(history.copyAt(strand, seq)))) return false;
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
  it('give at every position of every strand the tree that was copied there, and what commands are decided on [snapshots: locations and rows, snapshots: read, snapshots: branches]', () => {
    fc.assert(
      fc.property(anyActs(1, 60), (acts) => {
        const { history, under } = play(acts);
        under.rows.now((view) => {
          for (const [strand, seq] of positions(history)) {
            const { newest, nextIndex, policy, config, thread, ...parts } = readLineage(
              view,
              HISTORY,
              strand,
              seq,
            );
            const copy = history.copyAt(strand, seq);
            expect(sorted(parts)).toEqual(sorted(copy));
            expect({ newest, nextIndex, policy, config, thread }).toEqual({
              newest: copy.newest,
              nextIndex: copy.nextIndex,
              policy: copy.policy,
              config: copy.config,
              thread: copy.thread,
            });
          }
          for (const [strand, { copies }] of history.strands) {
            expect(readHead(view, HISTORY, strand)).toBe(Math.max(strand, ...copies.keys()));
            const { name } = readLineage(view, HISTORY, strand, null);
            expect(name).toBe(history.state.lineages.get(strand)?.name ?? name);
          }
        });
      }),
      { numRuns: RUNS },
    );
  });

  it('find one node of any position without the rest, and no node that is not there [snapshots: ids]', () => {
    fc.assert(
      fc.property(anyActs(1, 40), (acts) => {
        const { history, under } = play(acts);
        under.rows.now((view) => {
          for (const [strand, seq] of positions(history)) {
            const copy = history.copyAt(strand, seq);
            const expected = new Map<string, unknown>();
            for (const record of copy.nodes) expected.set(record.headers.id, { kind: 'node', record });
            for (const record of copy.turns) expected.set(record.headers.id, { kind: 'turn', record });
            for (const record of Object.values(copy.fixed))
              expected.set(record.headers.id, { kind: 'fixed', record });
            for (const id of [...history.ids, 'nobody'])
              expect(readNode(view, HISTORY, strand, seq, id)).toEqual(expected.get(id));
          }
          for (const id of history.ids) expect(isIdTaken(view, HISTORY, id)).toBe(true);
          expect(isIdTaken(view, HISTORY, 'nobody')).toBe(false);
        });
      }),
      { numRuns: RUNS / 2 },
    );
  });

  it('list the snapshots of every chain, from either end and in pages, and resolve every way to name one [context-tree §5: positions, §5: missing end, §5: fork, §5: rollback] [PACT 05 §2.3, §6.3]', () => {
    fc.assert(
      fc.property(anyActs(1, 60), fc.integer({ min: 1, max: 5 }), (acts, limit) => {
        const { history, under } = play(acts);
        under.rows.now((view) => {
          for (const strand of history.strands.keys()) {
            const head = readHead(view, HISTORY, strand);
            const expected = snapshotsOf(history, strand, head);
            const found = listSnapshots(view, HISTORY, strand, head, { first: 'oldest' });
            expect(found.map(({ cycle, strand: of, seq }) => [cycle, of, seq])).toEqual(expected);
            expect(listSnapshots(view, HISTORY, strand, head)).toEqual([...found].reverse());
            const paged = [];
            for (let from = 0; ;) {
              const page = listSnapshots(view, HISTORY, strand, head, { first: 'oldest', from, limit });
              if (page.length === 0) break;
              paged.push(...page);
              from = (page.at(-1)?.cycle ?? 0) + 1;
            }
            expect(paged).toEqual(found);
            [...found].reverse().forEach(({ cycle, strand: of, seq }, back) => {
              const position = { strand: of, seq, cycle };
              expect(resolvePosition(view, HISTORY, strand, { kind: 'c', cycle })).toEqual(position);
              expect(resolvePosition(view, HISTORY, strand, { kind: 't', value: -back })).toEqual(position);
              expect(resolvePosition(view, HISTORY, strand, { kind: 's', seq })).toEqual(position);
            });
            for (const marker of [
              { kind: 't', value: -found.length },
              { kind: 'c', cycle: 10_000 },
              { kind: 's', seq: 10_000 },
              { kind: 'name', name: '-' },
            ] as const)
              expect(() => resolvePosition(view, HISTORY, strand, marker)).toThrow(
                expect.objectContaining({ code: 'E_SNAPSHOT_NOT_FOUND' }) as Error,
              );
          }
        });
      }),
      { numRuns: RUNS / 2 },
    );
  });
});

const snapshotsOf = (history: NaiveHistory, strand: number, seq: number): number[][] => {
  const { parent, at } = history.strands.get(strand) ?? { parent: null, at: 0 };
  const before = parent === null ? [] : snapshotsOf(history, parent, Math.min(seq, at));
  const own = history.frames
    .filter(({ envelope, body }) => body.lineage === strand && envelope.seq <= seq)
    .flatMap(({ envelope, body }) =>
      body.events.flatMap((event) =>
        event.type === 'SnapshotCommitted' ? [[event.cycle, strand, envelope.seq]] : [],
      ),
    );
  return [...before, ...own];
};

describe('what looks simpler comes out wrong', () => {
  const isCaught = (spoil: Parameters<typeof allEqual>[1], runs = 400): boolean =>
    fc.check(
      fc.property(anyActs(20, 60), (acts) => allEqual(play(acts), spoil)),
      { numRuns: runs, seed: 1, endOnFailure: true },
    ).failed;

  it("a child's own `at` instead of the running minimum lets a grandparent's later frames in [snapshots: branches]", () => {
    expect(
      isCaught((chain, mark, _strand) => [
        chain.map((link, i) => ({
          ...link,
          limit: chain.length - 1 === i ? link.limit : Math.max(link.limit, chain[i + 1]?.strand ?? 0),
        })),
        mark,
      ]),
    ).toBe(true);
  });

  it('the own strand without its ancestors lacks what was there before', () => {
    expect(isCaught((chain, mark) => [chain.slice(-1), mark])).toBe(true);
  });

  it('ancestors without limits show what came after the fork [snapshots: branches]', () => {
    expect(isCaught((chain, mark) => [chain.map((link) => ({ ...link, limit: Infinity })), mark])).toBe(true);
  });
});
