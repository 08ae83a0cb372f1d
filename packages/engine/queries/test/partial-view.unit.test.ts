import { HISTORY } from '@stemma/test-kit';
import { depthAt, parentIdAt, type FlatTree } from '@stemma/context-tree';
import { expect, test } from 'vitest';
import { nodeViewOf, partialViewOf, positionOf, viewOf } from '../src/read.ts';
import { longHistory } from './long-history.ts';
import { HISTORIES } from './recorded/keeps-answers.ts';
import { recordedHistories } from './recorded/recorded-histories.ts';
import { listBranches } from '@stemma/read-models';
import { branchRefOf, listSnapshots, readTipSeq } from '@stemma/history-store';

test(
  'some nodes of a position are what they are in the whole of it, with as much in them',
  { tags: ['context-tree§7'] },
  async () => {
    const { projector } = await recordedHistories();
    let compared = 0;
    for (const history of HISTORIES) {
      const places = await projector.read((rows) =>
        listBranches(rows, history).flatMap(({ branchId }) => {
          const tip = readTipSeq(rows, history, branchId);
          const seqs = listSnapshots(rows, history, branchId, tip).map(({ seq }) => seq);
          return [tip, ...seqs].map((seq) => positionOf(rows, branchRefOf(history, branchId), `@s${seq}`));
        }),
      );
      for (const position of places) {
        const whole = await viewOf(projector, position);
        const ids = whole.tree.ids.filter((_, i) => (whole.tree.parents[i] ?? 0) > 1 && i % 2 === 0);
        const some = await partialViewOf(projector, position, [...ids, 'nobody']);
        expect(some.tree.indexOf('nobody')).toBeUndefined();
        for (const id of ids) {
          const [i, j] = [whole.tree.indexOf(id)!, some.tree.indexOf(id)!];
          const ref = whole.tree.payloads[i]!;
          expect(some.tree.headers[j]).toEqual(whole.tree.headers[i]);
          expect(some.tree.ends[j]! - j).toBe(whole.tree.ends[i]! - i);
          expect(some.payloads(ref)).toEqual(whole.payloads(ref));
          compared++;
        }
      }
    }
    expect(compared).toBeGreaterThan(300);
  },
);

test(
  'one node of a position has the depth, the parent and the children that it has in the whole',
  { tags: ['context-tree§1'] },
  async () => {
    const { projector } = await recordedHistories();
    let compared = 0;
    for (const history of HISTORIES) {
      const places = await projector.read((rows) =>
        listBranches(rows, history).flatMap(({ branchId }) => {
          const tip = readTipSeq(rows, history, branchId);
          const at = positionOf(rows, branchRefOf(history, branchId), `@s${tip}`);
          // Drafts too, in which something besides the head may have changed.
          return Array.from({ length: tip + 1 - branchId }, (_, i) => ({ ...at, seq: tip - i })).filter(
            ({ seq }) => seq % 3 === 0 || seq === tip,
          );
        }),
      );
      for (const position of places) {
        const whole = await viewOf(projector, position);
        expect(await nodeViewOf(projector, position, 'nobody')).toBeUndefined();
        for (const [i, id] of whole.tree.ids.entries()) {
          const { tree, payloads } = (await nodeViewOf(projector, position, id))!;
          const j = tree.indexOf(id)!;
          expect(around(tree, j)).toEqual(around(whole.tree, i));
          const ref = whole.tree.payloads[i] ?? null;
          if (ref !== null) expect(payloads(ref)).toEqual(whole.payloads(ref));
          compared++;
        }
      }
    }
    expect(compared).toBeGreaterThan(1_000);
  },
);

/** A node with what is above and below it. */
const around = (tree: FlatTree, i: number) => ({
  ...{ headers: tree.headers[i], ttl: tree.ttls[i], expires: tree.expires[i], payload: tree.payloads[i] },
  ...{ kind: tree.kinds[i], depth: depthAt(tree, i), parent: parentIdAt(tree, i) },
  // Root and ^seq contain all turns; of the root the regions are wanted.
  below: i === 0 ? tree.ids.filter((_, k) => tree.parents[k] === 0) : tree.ids.slice(i, tree.ends[i]),
});

test(
  'one node is read of a history of 3,000 cycles without the rest',
  { tags: ['context-tree§1'] },
  async () => {
    const { projector, reads } = await longHistory(3_000);
    for (const ref of ['@t0', '@c2000', '@s2990', '@c3']) {
      const at = await projector.read((rows) => positionOf(rows, branchRefOf(HISTORY, 0), ref));
      reads.rows = 0;
      const { tree } = (await nodeViewOf(projector, at, 'q2'))!;
      expect(depthAt(tree, tree.indexOf('q2')!)).toBe(at.cycle! - 1);
      expect(reads.rows).toBeLessThan(40);
    }
  },
);

test('three nodes are read of a history of 3,000 cycles without the rest', async () => {
  const { projector, reads } = await longHistory(3_000);
  const at = await projector.read((rows) => positionOf(rows, branchRefOf(HISTORY, 0), '@c2000'));
  reads.rows = 0;
  const view = await partialViewOf(projector, at, ['q1', 'a1000', 'r2000']);
  expect(view.payloads(view.tree.payloads[view.tree.indexOf('a1000')!]!)['content']).toBe('a1000');
  expect(reads.rows).toBeLessThan(100);
});
