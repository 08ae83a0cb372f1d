import { diffTrees, flattenRecords, type EventRef } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import { payloadIn } from '@stemma/history';
import { anyActs, framesOf, HISTORY, play, type Played } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareLines } from '../src/audit/compare.ts';
import { readMeeting } from '../src/meeting.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? 40);

type Place = { readonly strand: number; readonly seq: number };

const framesAt = (played: Played, { strand, seq }: Place): readonly number[] =>
  framesOf(played, strand, seq).map(({ envelope }) => envelope.seq);

/** Some pairs of positions, of any strands. */
const pairs = (played: Played): readonly (readonly [Place, Place])[] => {
  const strands = [...played.history.strands.keys()];
  const places = strands.flatMap((strand) => {
    const own = played.history.frames.filter(({ body }) => body.lineage === strand);
    return [own[0], own[Math.floor(own.length / 2)], own.at(-1)].flatMap((frame) =>
      frame === undefined ? [] : [{ strand, seq: frame.envelope.seq }],
    );
  });
  return places.flatMap((a, i) =>
    places.filter((_, k) => (i * 7 + k * 3) % 5 === 0).map((b) => [a, b] as const),
  );
};

it('finds the stem of two positions: the frames of both are those up to the stem, the rest is only one side’s [context-tree §5: fork]', () => {
  fc.assert(
    fc.property(anyActs(20, 120), (acts) => {
      const played = play(acts);
      for (const [a, b] of pairs(played)) {
        const { stem, ...sides } = played.rows.now((rows) => readMeeting(rows, HISTORY, a, b));
        const [ofA, ofB] = [framesAt(played, a), framesAt(played, b)];
        const common = ofA.filter((seq) => ofB.includes(seq));

        expect(framesAt(played, stem)).toEqual(common);
        expect(common.at(-1)).toBe(stem.seq);
        expect(sides.a.first).toBe(ofA[common.length] ?? null);
        expect(sides.b.first).toBe(ofB[common.length] ?? null);
        for (const [side, all] of [
          [sides.a, ofA],
          [sides.b, ofB],
        ] as const)
          expect(side.starts).toBe(
            played.history.frames[all[common.length] ?? -1]?.body.events[0]?.type === 'LineageStarted',
          );
      }
    }),
    { numRuns: RUNS },
  );
});

it('gives each side as its difference from the stem, its frames and its cycles, side by side [context-tree §7: shape]', async () => {
  await fc.assert(
    fc.asyncProperty(anyActs(20, 100), async (acts) => {
      const played = play(acts);
      const { history } = played;
      const payload = ({ seq, index }: EventRef) =>
        payloadIn(history.frames[seq]?.body.events[index] as HistoryEvent);
      const projector = { ...played.projector, catchUp: () => Promise.resolve() };
      const line = { history: HISTORY, strand: 0, lineage: HISTORY };
      for (const [a, b] of pairs(played).slice(0, 12)) {
        const found = await compareLines(projector, line, `@s${a.seq}`, `@s${b.seq}`);
        const tree = ({ strand, seq }: Place) => flattenRecords(history.copyAt(strand, seq));
        const stem = tree(found.stem.position);
        for (const [side, place] of [
          [found.a, a],
          [found.b, b],
        ] as const) {
          const diff = diffTrees(stem, tree(place), payload);
          expect(side.added.map(({ id }) => id)).toEqual(diff.added);
          expect(side.removed.map(({ id }) => id)).toEqual(diff.removed);
          expect(side.changed.map(({ id, fields }) => ({ id, fields }))).toEqual(diff.changed);
          const behind = framesAt(played, place).filter((seq) => seq > found.stem.position.seq);
          expect(side.frames).toBe(behind.length);
        }
        for (const { a: left, b: right } of found.alike) {
          expect(found.a.added.find(({ id }) => id === left)?.excerpt).toBe(
            found.b.added.find(({ id }) => id === right)?.excerpt,
          );
        }
        const cyclesOf = (place: Place) =>
          framesOf(played, place.strand, place.seq).filter(
            ({ envelope, body }) =>
              envelope.seq > found.stem.position.seq &&
              body.events.some(({ type }) => type === 'SnapshotCommitted'),
          ).length;
        expect(found.cycles.filter((cycle) => cycle.a !== null).length).toBe(cyclesOf(a));
        expect(found.cycles.filter((cycle) => cycle.b !== null).length).toBe(cyclesOf(b));
      }
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});
