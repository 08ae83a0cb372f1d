import { openSmallest } from './smallest.ts';
import type { SquaredDistances } from './squared-distances.ts';

/** For each row the nearest rows, itself among them, the nearest first; of equal ones the lower row. */
export type Neighbours = {
  readonly count: number;
  /** `items[i × count + n]` is the row that is the n-th nearest to row i. */
  readonly items: Int32Array;
  /** Its squared distance. */
  readonly squares: Float64Array;
};

/** The `count` nearest of every row, exactly: only those are computed of which the margins leave it open. */
export const neighbours = (distances: SquaredDistances, count: number): Neighbours => {
  const { rows, margins, middles, exact, unit } = distances;
  const items = new Int32Array(rows * count);
  const squares = new Float64Array(rows * count);
  const candidates = new Int32Array(rows);
  const [bounds, nearest] = [openSmallest(count), openSmallest(count)];
  for (let i = 0; i < rows; i++) {
    const row = middles(i);
    const own = margins[i]!;
    let bound = Number.POSITIVE_INFINITY;
    let open = 0;
    bounds.clear();
    for (let k = 0; k < rows; k++) {
      const margin = own + margins[k]!;
      const middle = row[k]!;
      if (middle - margin > bound) continue;
      candidates[open++] = k;
      if (middle + margin >= bound) continue;
      bounds.offer(middle + margin, k);
      bound = bounds.bound();
    }
    for (let at = 0; at < open; at++) {
      const k = candidates[at]!;
      if (row[k]! - own - margins[k]! <= bound) nearest.offer(exact(i, k), k);
    }
    const found = nearest.take();
    items.set(found.items, i * count);
    for (const [n, square] of found.values.entries()) squares[i * count + n] = square * unit * unit;
  }
  return { count, items, squares };
};
