import { diffTrees, flattenRecords, type EventRef } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import { payloadIn } from '@stemma/history';
import { anyOperations, framesOf, HISTORY, play, type Played, sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareBranches } from '../src/audit/compare.ts';
import { findMergeBase } from '../src/merge-base.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(16, 40));

type Place = { readonly branchId: number; readonly seq: number };

const framesAt = (played: Played, { branchId, seq }: Place): readonly number[] =>
  framesOf(played, branchId, seq).map(({ envelope }) => envelope.seq);

/** Some pairs of positions, of any branches. */
const pairs = (played: Played): readonly (readonly [Place, Place])[] => {
  const branchIds = [...played.history.branches.keys()];
  const places = branchIds.flatMap((branchId) => {
    const own = played.history.frames.filter(({ body }) => body.branchId === branchId);
    return [own[0], own[Math.floor(own.length / 2)], own.at(-1)].flatMap((frame) =>
      frame === undefined ? [] : [{ branchId, seq: frame.envelope.seq }],
    );
  });
  return places.flatMap((a, i) =>
    places.filter((_, k) => (i * 7 + k * 3) % 5 === 0).map((b) => [a, b] as const),
  );
};

it(
  'finds the merge base of two positions: both have the frames up to it, and each later frame belongs to one side',
  { tags: ['context-tree§5:fork'] },
  () => {
    fc.assert(
      fc.property(anyOperations(20, 120), (actions) => {
        const played = play(actions);
        for (const [a, b] of pairs(played)) {
          const { mergeBase, ...sides } = played.rows.now((rows) => findMergeBase(rows, HISTORY, a, b));
          const [ofA, ofB] = [framesAt(played, a), framesAt(played, b)];
          const common = ofA.filter((seq) => ofB.includes(seq));

          expect(framesAt(played, mergeBase)).toEqual(common);
          expect(common.at(-1)).toBe(mergeBase.seq);
          expect(sides.a.first).toBe(ofA[common.length] ?? null);
          expect(sides.b.first).toBe(ofB[common.length] ?? null);
          for (const [side, all] of [
            [sides.a, ofA],
            [sides.b, ofB],
          ] as const)
            expect(side.startsBranch).toBe(
              played.history.frames[all[common.length] ?? -1]?.body.events[0]?.type === 'BranchStarted',
            );
        }
      }),
      { numRuns: RUNS },
    );
  },
);

it(
  'gives each side as its difference from the merge base, its frames and its cycles, side by side',
  { tags: ['context-tree§7:shape'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyOperations(20, 100), async (actions) => {
        const played = play(actions);
        const { history } = played;
        const payload = ({ seq, index }: EventRef) =>
          payloadIn(history.frames[seq]?.body.events[index] as HistoryEvent);
        const projector = { ...played.projector, catchUp: () => Promise.resolve() };
        const line = { history: HISTORY, branchId: 0, branch: HISTORY };
        for (const [a, b] of pairs(played).slice(0, 12)) {
          const found = await compareBranches(projector, line, `@s${a.seq}`, `@s${b.seq}`);
          const at = found.mergeBase?.position as Place;
          const tree = ({ branchId, seq }: Place) => flattenRecords(history.copyAt(branchId, seq));
          const mergeBase = tree(at);
          for (const [side, place] of [
            [found.a, a],
            [found.b, b],
          ] as const) {
            const diff = diffTrees(mergeBase, tree(place), payload);
            expect(side.added.map(({ id }) => id)).toEqual(diff.added);
            expect(side.removed.map(({ id }) => id)).toEqual(diff.removed);
            expect(side.changed.map(({ id, fields }) => ({ id, fields }))).toEqual(diff.changed);
            const behind = framesAt(played, place).filter((seq) => seq > at.seq);
            expect(side.frames).toBe(behind.length);
          }
          for (const { a: left, b: right } of found.alike) {
            expect(found.a.added.find(({ id }) => id === left)?.excerpt).toBe(
              found.b.added.find(({ id }) => id === right)?.excerpt,
            );
          }
          const cyclesOf = (place: Place) =>
            framesOf(played, place.branchId, place.seq).filter(
              ({ envelope, body }) =>
                envelope.seq > at.seq && body.events.some(({ type }) => type === 'SnapshotCommitted'),
            ).length;
          expect(found.cycles.filter((cycle) => cycle.a !== null).length).toBe(cyclesOf(a));
          expect(found.cycles.filter((cycle) => cycle.b !== null).length).toBe(cyclesOf(b));
        }
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  },
);
