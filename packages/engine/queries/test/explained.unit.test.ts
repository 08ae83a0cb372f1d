import { diffTrees, flattenRecords, NODE_KIND, threadBytes, type FlatTree } from '@stemma/context-tree';
import { payloadIn } from '@stemma/history';
import { anyOperations, play, type Played, sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { explainPositions } from '../src/causes/explain.ts';
import { whyNode } from '../src/causes/why.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(16, 40));

const treeAt = ({ history }: Played, branchId: number, seq: number): FlatTree =>
  flattenRecords(history.copyAt(branchId, seq));

test(
  'an explained diff begins with the diff, and its entries lie in both threads where it says; moves pair equal contents',
  { tags: ['context-tree§7:explain', 'PACT-06§4.4', 'PACT-05§4.5'], timeout: 600_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyOperations(5, 50), fc.nat(), fc.nat(), fc.nat(), async (actions, s, q, r) => {
        const played = play(actions);
        const branchIds = [...played.history.branches.keys()];
        const branchId = branchIds[s % branchIds.length] as number;
        const { next } = played.history.state;
        const [a, b] = [played.positionAt(branchId, q % next), played.positionAt(0, r % next)];
        const [older, newer] = [treeAt(played, a.branchId, a.seq), treeAt(played, b.branchId, b.seq)];
        const source = ({ seq, index }: { seq: number; index: number }) =>
          payloadIn(played.history.frames[seq]?.body.events[index] as never);
        const { added, removed, changed, entries, moves } = await explainPositions(played.projector, a, b);
        expect({ added, removed, changed }).toEqual(diffTrees(older, newer, source));
        const [before, after] = [threadBytes(older, source), threadBytes(newer, source)];
        for (const { id, bytes } of entries)
          for (const [tree, text, range] of [
            [older, before, bytes.a],
            [newer, after, bytes.b],
          ] as const) {
            const index = tree.indexOf(id);
            const blocks = index === undefined ? [] : blocksIn(tree, index);
            const found =
              range === null ? [] : (JSON.parse(`[${text.slice(range.from, range.to)}]`) as { id: string }[]);
            expect(found.map((block) => block.id)).toEqual(blocks);
          }
        expect(new Set(moves.map(({ from }) => from)).size).toBe(moves.length);
        for (const { from, to } of moves) {
          expect(removed).toContain(from);
          expect(added).toContain(to);
        }
      }),
      { numRuns: RUNS },
    );
  },
);

const blocksIn = (tree: FlatTree, index: number): string[] =>
  tree.ids.slice(index, tree.ends[index]).filter((_, i) => tree.kinds[index + i] === NODE_KIND.block);

test(
  'the timeline of a node has one arrival, at most one departure, and moments in order; ids without a timeline there are refused',
  { tags: ['context-tree§3:one-cause'], timeout: 600_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyOperations(5, 50), fc.nat(), async (actions, s) => {
        const played = play(actions);
        const branchIds = [...played.history.branches.keys()];
        const position = played.positionAt(
          branchIds[s % branchIds.length] as number,
          played.history.state.next - 1,
        );
        const tree = treeAt(played, position.branchId, position.seq);
        for (const id of played.history.ids) {
          const life = await whyNode(played.projector, position, id).catch(() => null);
          if (life === null) {
            expect(tree.indexOf(id)).toBeUndefined();
            continue;
          }
          const { added: came, changes: then, removed: left, present } = life;
          expect(present).toBe(tree.indexOf(id) !== undefined);
          expect([came.explains, left?.explains ?? 'removed']).toEqual(['added', 'removed']);
          const places = [came, ...then, ...(left === null ? [] : [left])].map(({ seq, index }) => [
            seq,
            index,
          ]);
          expect(places.toSorted((x, y) => (x[0] ?? 0) - (y[0] ?? 0) || (x[1] ?? 0) - (y[1] ?? 0))).toEqual(
            places,
          );
        }
        await expect(whyNode(played.projector, position, 'nobody')).rejects.toMatchObject({
          code: 'E_NODE_NOT_FOUND',
        });
      }),
      { numRuns: RUNS / 2 },
    );
  },
);
