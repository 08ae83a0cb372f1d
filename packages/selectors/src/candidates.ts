import { NODE_KIND } from '@stemma/context-tree';
import type { Matcher } from './compile.ts';
import { lowerBound, mergeRanges, type Matches, type Range } from './matches.ts';
import { codeOfCore, codeOfNode, type TreeIndex } from './tree-index.ts';

/** Below so many nodes looking at each costs no more than asking an index. */
const FEW = 1_024;

/**
 * Codes that a compound may match under what was matched to its left, ascending, each once, from whatever names the
 * fewest: the id index, the children, an index of an attribute, the turns, or all nodes of the stretch. The nodes are of
 * the compound's kind; what else it asks is still to be tested.
 *
 * @param left null: nothing stands to the left.
 */
export const candidates = (
  matcher: Matcher,
  left: Matches | null,
  children: boolean,
  index: TreeIndex,
): readonly number[] => {
  const { tree } = index;
  const below = left === null ? [[0, codeOfCore(tree.count)] as const] : left.below;
  const ranges = clip(mergeRanges(below), matcher.window);
  if (matcher.only !== undefined) {
    const code = matcher.only === null ? -1 : codeOfNode(matcher.only);
    return isWithin(ranges, code) ? [code] : [];
  }
  const nodes = nodesOf(matcher, ranges, children ? left : null, index);
  if (matcher.core === null) return nodes;
  return merge(nodes, within(index.cores(), ranges));
};

const nodesOf = (
  { kind, attributes }: Matcher,
  ranges: readonly Range[],
  parents: Matches | null,
  index: TreeIndex,
): readonly number[] => {
  const { kinds } = index.tree;
  const size = ranges.reduce((sum, [from, to]) => sum + ((to - from) >> 1), 0);
  const isKind = (node: number): boolean => kind === undefined || kinds[node] === kind;
  if (size > FEW) {
    let few: readonly number[] | undefined;
    for (const attribute of attributes) {
      const found = index.attribute(attribute.key)?.matching(attribute);
      if (found !== undefined && found.length < (few?.length ?? size / 2)) few = found;
    }
    if (few !== undefined) {
      const codes: number[] = [];
      for (const node of few) if (isKind(node)) codes.push(codeOfNode(node));
      // Whether a node is a child of a match is asked of each anyway.
      return parents === null ? within(codes, ranges) : codes;
    }
  }
  if (kind === NODE_KIND.turn) return within(index.turns.map(codeOfNode), ranges);
  const codes: number[] = [];
  if (parents !== null) {
    let sorted = true;
    for (const node of parents.children()) {
      if (!isKind(node)) continue;
      sorted &&= codeOfNode(node) > (codes.at(-1) ?? -1);
      codes.push(codeOfNode(node));
    }
    return within(sorted ? codes : codes.sort((a, b) => a - b), ranges);
  }
  for (const [from, to] of ranges)
    for (let node = from >> 1; node < to >> 1; node++) if (isKind(node)) codes.push(codeOfNode(node));
  return codes;
};

/** The part of ranges that lies in a window of nodes. */
const clip = (ranges: readonly Range[], [from, to]: readonly [number, number]): readonly Range[] => {
  const [low, high] = [codeOfCore(from), codeOfCore(to)];
  if (ranges.every((range) => low <= range[0] && range[1] <= high)) return ranges;
  return ranges
    .map((range): Range => [Math.max(range[0], low), Math.min(range[1], high)])
    .filter((range) => range[0] < range[1]);
};

const isWithin = (ranges: readonly Range[], code: number): boolean =>
  ranges.some(([from, to]) => from <= code && code < to);

/** Those of the ascending codes that lie in ascending ranges. */
const within = (codes: readonly number[], ranges: readonly Range[]): readonly number[] => {
  const [only] = ranges;
  const last = codes.at(-1);
  if (only === undefined || last === undefined) return [];
  if (ranges.length === 1 && only[0] <= (codes[0] as number) && last < only[1]) return codes;
  const found: number[] = [];
  for (const [from, to] of ranges)
    for (let i = lowerBound(codes, from); i < codes.length && (codes[i] as number) < to; i++)
      found.push(codes[i] as number);
  return found;
};

/** Two ascending lists as one. */
const merge = (a: readonly number[], b: readonly number[]): readonly number[] => {
  if (b.length === 0) return a;
  if (a.length === 0) return b;
  const merged: number[] = [];
  for (let i = 0, k = 0; i < a.length || k < b.length;) {
    const x = a[i] ?? Infinity;
    const y = b[k] ?? Infinity;
    merged.push(Math.min(x, y));
    if (x <= y) i++;
    if (y <= x) k++;
  }
  return merged;
};
