import { HISTORY } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { partialViewOf, positionOf, viewOf } from '../src/read.ts';
import { longHistory } from './long-history.ts';
import { HISTORIES } from './recorded/keeps-answers.ts';
import { recordedHistories } from './recorded/recorded-histories.ts';
import { listBranches } from '@stemma/read-models';
import { branchRefOf, listSnapshots, readTipSeq } from '@stemma/history-store';

test('some nodes of a position are what they are in the whole of it, with as much in them [context-tree §7]', async () => {
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
});

test('three nodes are read of a history of 3,000 cycles without the rest', async () => {
  const { projector, reads } = await longHistory(3_000);
  const at = await projector.read((rows) => positionOf(rows, branchRefOf(HISTORY, 0), '@c2000'));
  reads.rows = 0;
  const view = await partialViewOf(projector, at, ['q1', 'a1000', 'r2000']);
  expect(view.payloads(view.tree.payloads[view.tree.indexOf('a1000')!]!)['content']).toBe('a1000');
  expect(reads.rows).toBeLessThan(100);
});
