import { diffTrees, flattenRecords, type FlatTree, type PayloadSource } from '@stemma/context-tree';
import { payloadIn } from '@stemma/history';
import { listSnapshots, readTipSeq } from '@stemma/history-store';
import { readDiffCandidates, readPairCandidates } from '@stemma/read-models';
import { isLocal, printSelector, rangeDiff, select, type RangeSide, type Selector } from '@stemma/selectors';
import { anyOperations, anySelector, HISTORY, play, sized, type Played } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changesBetween, readFrameChanges } from '../src/selection/changes-from-frames.ts';
import { diffTreesAt } from '../src/selection/diff-trees-at.ts';
import { openTreeLoader } from '../src/selection/load-tree.ts';
import { selectIds } from '../src/selection/select-ids.ts';
import { selectRange } from '../src/selection/select-range.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(16, 40));

type Stop = { readonly cycle: number; readonly branchId: number; readonly seq: number };

const anyQuestion = anyOperations(10, 50).chain((actions) => {
  const played = play(actions);
  return fc.record({
    played: fc.constant(played),
    branchId: fc.constantFrom(...played.history.branches.keys()),
    selector: anySelector({ ids: [...played.history.ids] }),
    a: fc.nat(1_000),
    b: fc.nat(1_000),
  });
});

const stopsOn = ({ rows }: Played, branchId: number): readonly Stop[] =>
  rows.now((view) => listSnapshots(view, HISTORY, branchId, readTipSeq(view, HISTORY, branchId)));

/** What is known without rows: the whole tree at every stop, and the first stop that has a node. */
const sideOf = ({ history }: Played, stops: readonly Stop[], stop: Stop, label: string): RangeSide => {
  const treeAt = ({ branchId, seq }: Stop): FlatTree => flattenRecords(history.copyAt(branchId, seq));
  const tree = treeAt(stop);
  const before = stops.filter(({ cycle }) => cycle <= stop.cycle).map(treeAt);
  return {
    label,
    tree,
    appeared: (index) =>
      before.findLast((each) => each.indexOf(tree.ids[index] as string) !== undefined)?.cycle ?? 0,
  };
};

const payloadsOf =
  ({ history }: Played): PayloadSource =>
  ({ seq, index }) =>
    payloadIn(history.frames[seq]!.body.events[index]!);

const askedOf = (played: Played) => ({ projection: played.projector, load: openTreeLoader() });
const lineOf = (branchId: number) => ({ history: HISTORY, branchId, branch: `${HISTORY}:${branchId}` });
const marked = (selector: Selector, at: Selector['at']): string => printSelector({ ...selector, at });

test(
  'a snapshot of which only a part is loaded answers as the whole tree does',
  { tags: ['context-tree§6:pure', 'context-tree§6:attributes-of-snapshots'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyQuestion, async ({ played, branchId, selector, a }) => {
        const stops = stopsOn(played, branchId);
        const stop = stops[a % Math.max(1, stops.length)];
        if (stop === undefined) return;
        const { tree, appeared } = sideOf(played, stops, stop, '');
        const wanted = select(tree, selector, payloadsOf(played), appeared === undefined ? {} : { appeared });
        const text = marked(selector, { kind: 'c', cycle: stop.cycle });
        expect((await selectIds(askedOf(played), lineOf(branchId), text, {})).ids, text).toEqual(wanted);
      }),
      { numRuns: RUNS * 3 },
    );
  },
);

test(
  'a range that is walked by what changed gives what whole snapshots give',
  { tags: ['context-tree§5:ranges', 'context-tree§6:range-result', 'context-tree§10.35'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyQuestion, async ({ played, branchId, selector, a, b }) => {
        const stops = stopsOn(played, branchId);
        const [from, to] = [a % Math.max(1, stops.length), b % Math.max(1, stops.length)].sort(
          (x, y) => x - y,
        );
        if (stops.length === 0 || from === undefined || to === undefined) return;
        const sides = stops
          .slice(from, to + 1)
          .map((stop, i) => sideOf(played, stops, stop, `@t${-(from + i) || 0}`));
        const options = { includeContent: true };
        const wanted = sides
          .slice(1)
          .map((older, i) => rangeDiff(sides[i] as RangeSide, older, selector, payloadsOf(played), options));
        const text = marked(selector, { kind: 'range', of: 't', from: -from || 0, to: -to || 0 });
        const result = await selectRange(askedOf(played), lineOf(branchId), text, options);
        expect(result.diffs, text).toEqual(wanted);
        expect(
          JSON.stringify(await selectRange(askedOf(played), lineOf(branchId), text, options), bigints),
        ).toBe(JSON.stringify(result, bigints));
      }),
      { numRuns: RUNS * 3 },
    );
  },
);

const bigints = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

test(
  'of all snapshots the newest comes first, each id where it is first met, in any window',
  { tags: ['context-tree§6:result-of-all', 'context-tree§6:windows'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyQuestion, async ({ played, branchId, selector, a, b }) => {
        const stops = stopsOn(played, branchId);
        if (stops.length === 0) return;
        const ids = stops.flatMap((stop) => {
          const { tree, appeared } = sideOf(played, stops, stop, '');
          return select(tree, selector, payloadsOf(played), appeared === undefined ? {} : { appeared });
        });
        const wanted = [...new Set(ids)];
        const text = marked(selector, { kind: 'all' });
        expect((await selectIds(askedOf(played), lineOf(branchId), text, {})).ids, text).toEqual(wanted);
        const [skip, limit] = [a % 4, b % 5];
        const some = await selectIds(askedOf(played), lineOf(branchId), text, { skip, limit });
        expect(some.ids, text).toEqual(wanted.slice(skip, skip + limit));
      }),
      { numRuns: RUNS * 2 },
    );
  },
);

test(
  'two neighbours of which only what can differ was read, as rows or frames say it, have the range diff of the whole trees',
  { tags: ['context-tree§6:range-result'] },
  async () => {
    let alone = 0;
    await fc.assert(
      fc.asyncProperty(anyQuestion, async ({ played, branchId, selector }) => {
        if (!isLocal(selector)) return;
        const stops = stopsOn(played, branchId);
        const source = payloadsOf(played);
        const [newest, oldest] = [stops[0], stops.at(-1)];
        const frames =
          newest && oldest && (await readFrameChanges(played.projector, HISTORY, { a: oldest, b: newest }));
        for (const [i, older] of stops.slice(1).entries()) {
          const newer = stops[i] as Stop;
          const ends = { a: older, b: newer };
          const changes = frames && changesBetween(frames, older.seq, newer.seq);
          for (const given of [undefined, changes]) {
            const parts = played.rows.now((rows) => readPairCandidates(rows, HISTORY, ends, Infinity, given));
            if (parts === undefined) continue;
            alone++;
            const sides = [newer, older].map((stop) => sideOf(played, stops, stop, `@c${stop.cycle}`));
            const [after, before] = sides as [RangeSide, RangeSide];
            expect(
              rangeDiff(
                { label: after.label, tree: parts.newer },
                { label: before.label, tree: parts.older },
                selector,
                source,
                { includeContent: true, only: parts.ids },
              ),
            ).toEqual(rangeDiff(after, before, selector, source, { includeContent: true }));
          }
        }
      }),
      { numRuns: 8 * RUNS },
    );
    expect(alone).toBeGreaterThan(2 * RUNS);
  },
);

test(
  'the diff of two positions of any branches is that of their trees, whether rows or the frames between say what can differ',
  { tags: ['context-tree§7:shape'] },
  async () => {
    let byFrames = 0;
    await fc.assert(
      fc.asyncProperty(
        anyQuestion,
        fc.nat(),
        fc.nat(),
        fc.nat(),
        async ({ played, branchId }, q, r, other) => {
          const { history, rows } = played;
          const branches = [...history.branches.keys()];
          const [x, y] = [branchId, branches[other % branches.length] as number];
          const [a, b] = [q % history.state.next, r % history.state.next];
          const [older, newer] = [played.positionAt(x, a), played.positionAt(y, b)];
          const [before, after] = [older, newer].map((each) =>
            flattenRecords(history.copyAt(each.branchId, each.seq)),
          ) as [FlatTree, FlatTree];
          const wanted = diffTrees(before, after, payloadsOf(played));
          const ends = { a: older, b: newer };
          const found = await readFrameChanges(played.projector, HISTORY, ends);
          const changes = found && changesBetween(found);
          const parts = rows.now((view) =>
            readDiffCandidates(view, HISTORY, ends, { maxIds: Infinity, changes }),
          );
          if (changes !== undefined) byFrames++;
          expect(parts && diffTrees(parts.older, parts.newer, payloadsOf(played), parts.ids)).toEqual(wanted);
          const projector = { ...played.projector, lacking: () => Promise.resolve(Infinity) };
          for (const projection of [played.projector, projector])
            expect(await diffTreesAt(projection, older, newer)).toEqual(wanted);
        },
      ),
      { numRuns: 8 * RUNS },
    );
    expect(byFrames).toBeGreaterThan(7 * RUNS);
  },
);
