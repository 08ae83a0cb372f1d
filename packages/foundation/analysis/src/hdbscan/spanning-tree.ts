import type { SquaredDistances } from '../distances/squared-distances.ts';

/**
 * A minimum spanning tree as the order in which Prim's algorithm reaches the rows: row `order[i]` is joined to those before it at
 * `heights[i]`, a distance. Joining neighbours in this order by height gives the same groups as joining the ends of the tree's own
 * connections: a row reached at height h is connected to one that came after the last height above h, else it had been reached
 * before.
 */
export type SpanningTree = { readonly order: Int32Array; readonly heights: Float64Array };

/** Where a reach is exact already. */
const EXACT = -1;

/**
 * The tree over mutual reachability, max(core(i), core(k), distance(i, k)), from row 0 on, of rows equally near the first (R. Prim,
 * "Shortest connection networks and some generalizations", Bell System Technical Journal 36, 1957). Nothing but exact distances
 * decides: of each row outside the tree we know between which bounds its reach is and from which row, and compute it when
 * the bounds leave something open.
 *
 * @param cores the squared core distance of each row
 */
export const spanningTree = (distances: SquaredDistances, cores: Float64Array): SpanningTree => {
  const { rows, unit, margins, middles, exact } = distances;
  const order = new Int32Array(rows);
  const heights = new Float64Array(rows);
  const scaledCores = cores.map((core) => core / unit / unit);
  const lower = new Float64Array(rows).fill(Number.POSITIVE_INFINITY);
  const upper = new Float64Array(rows).fill(Number.POSITIVE_INFINITY);
  const sources = new Int32Array(rows).fill(EXACT);
  const outside = Int32Array.from({ length: rows }, (_, i) => i);

  const reachFrom = (source: number, row: number): number =>
    Math.max(scaledCores[source]!, scaledCores[row]!, exact(source, row));
  /** Both bounds of a row become its exact reach. */
  const makeExact = (row: number, reach: number): void => {
    lower[row] = upper[row] = reach;
    sources[row] = EXACT;
  };
  const knownReach = (row: number): number =>
    sources[row] === EXACT ? lower[row]! : reachFrom(sources[row]!, row);
  const nearest = (count: number): number => {
    let [next, least] = [-1, Number.POSITIVE_INFINITY];
    for (let at = 0; at < count; at++) {
      const row = outside[at]!;
      if (lower[row]! < least) {
        least = lower[row]!;
        next = row;
      }
    }
    return next;
  };

  let count = rows;
  for (let i = 1, current = 0; i < rows; i++) {
    const row = middles(current);
    const [core, own] = [scaledCores[current]!, margins[current]!];
    let kept = 0;
    for (let at = 0; at < count; at++) {
      const k = outside[at]!;
      if (k === current) continue;
      outside[kept++] = k;
      const floor = Math.max(core, scaledCores[k]!);
      const margin = own + margins[k]!;
      const least = Math.max(floor, row[k]! - margin);
      if (least >= upper[k]!) continue;
      const most = Math.max(floor, row[k]! + margin);
      if (least === most) {
        // The core distances alone decide.
        if (least <= lower[k]!) makeExact(k, least);
        else makeExact(k, Math.min(least, knownReach(k)));
      } else if (most <= lower[k]!) {
        lower[k] = least;
        upper[k] = most;
        sources[k] = current;
      } else makeExact(k, Math.min(reachFrom(current, k), knownReach(k)));
    }
    count = kept;
    let next = nearest(count);
    while (sources[next] !== EXACT) {
      makeExact(next, knownReach(next));
      next = nearest(count);
    }
    order[i] = current = next;
    heights[i] = Math.sqrt(lower[next]!) * unit;
  }
  return { order, heights };
};
