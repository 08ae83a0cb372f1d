import { NODE_KIND } from '@stemma/context-tree';
import { codesOf } from './attribute-index.ts';
import { codeOfCore, codeOfNode, indexOfCode } from './codes.ts';
import type { Matcher } from './compile.ts';
import { clipRanges, codesInRanges, mergeRanges, type IndexRanges } from './index-ranges.ts';
import type { Matches } from './matches.ts';
import type { Attribute } from './syntax.ts';
import type { TreeIndex } from './tree-index.ts';

/** For fewer nodes than this, testing each one costs no more than an index. */
const FEW = 1_024;

/** The nodes that a compound may match, as ascending codes, and the attribute test that an index has already applied to all of them. */
export type Candidates = { readonly codes: Int32Array; readonly holds: Attribute | null };

/**
 * The codes that a compound may match below the matches to its left: ascending, each once. They come from the source that
 * gives the fewest: the id index, the children, an index of an attribute, the turns, or all nodes of the range. The nodes
 * have the compound's kind; the caller applies its other tests.
 *
 * @param left the matches of the compound to the left; null if there is none.
 */
export const candidates = (
  matcher: Matcher,
  left: Matches | null,
  children: boolean,
  index: TreeIndex,
): Candidates => {
  const { tree } = index;
  const below = left === null ? Int32Array.of(0, codeOfCore(tree.count)) : left.below;
  const [from, to] = matcher.window;
  const ranges = clipRanges(mergeRanges(below), codeOfCore(from), codeOfCore(to));
  if (matcher.only !== undefined) {
    const named = codesOf(Int32Array.from(matcher.only === null ? [] : [matcher.only]), matcher.kind, tree);
    return { codes: codesInRanges(named, ranges), holds: null };
  }
  const nodes = nodesOf(matcher, ranges, children ? left : null, index);
  if (matcher.core === null) return nodes;
  // An index knows nothing of implicit cores, but they have tests of their own.
  return { ...nodes, codes: merge(nodes.codes, codesInRanges(index.cores(), ranges)) };
};

const nodesOf = (
  matcher: Matcher,
  ranges: IndexRanges,
  parents: Matches | null,
  index: TreeIndex,
): Candidates => {
  const { kind } = matcher;
  const size = sizeOf(ranges);
  const indexed = size > FEW ? fewest(matcher, size, index) : undefined;
  if (indexed !== undefined) {
    const { codes, attribute } = indexed;
    // Whether a node is a child of a match is asked of each anyway.
    return { codes: parents === null ? codesInRanges(codes, ranges) : codes, holds: attribute };
  }
  if (kind === NODE_KIND.turn) return { codes: codesInRanges(index.turnCodes(), ranges), holds: null };
  if (parents === null) return { codes: allIn(ranges, size, kind, index), holds: null };
  const codes = codesOf(parents.children(), kind, index.tree);
  return {
    codes: codesInRanges(isAscending(codes) ? codes : codes.sort((a, b) => a - b), ranges),
    holds: null,
  };
};

const sizeOf = (ranges: IndexRanges): number => {
  let size = 0;
  for (let i = 0; i < ranges.length; i += 2) size += ((ranges[i + 1] as number) - (ranges[i] as number)) >> 1;
  return size;
};

/** The attribute test that the fewest nodes pass, if an index knows it and they are few enough. */
const fewest = (
  { attributes, kind }: Matcher,
  size: number,
  index: TreeIndex,
): { readonly attribute: Attribute; readonly codes: Int32Array } | undefined => {
  let best: { readonly attribute: Attribute; readonly codes: Int32Array } | undefined;
  for (const attribute of attributes) {
    const codes = index.attribute(attribute.key)?.matching(attribute, kind);
    if (codes !== undefined && codes.length < (best?.codes.length ?? size / 2)) best = { attribute, codes };
  }
  return best;
};

/** The codes of all nodes of a kind. */
const allIn = (
  ranges: IndexRanges,
  size: number,
  kind: number | undefined,
  { tree }: TreeIndex,
): Int32Array => {
  const { kinds } = tree;
  const codes = new Int32Array(size + ranges.length);
  let found = 0;
  for (let s = 0; s < ranges.length; s += 2) {
    const to = indexOfCode(ranges[s + 1] as number);
    for (let node = indexOfCode(ranges[s] as number); node < to; node++)
      if (kind === undefined || kinds[node] === kind) codes[found++] = codeOfNode(node);
  }
  return codes.subarray(0, found);
};

const isAscending = (codes: Int32Array): boolean => {
  for (let i = 1; i < codes.length; i++) if ((codes[i] as number) <= (codes[i - 1] as number)) return false;
  return true;
};

/** Two ascending lists as one. */
const merge = (a: Int32Array, b: Int32Array): Int32Array => {
  if (b.length === 0) return a;
  if (a.length === 0) return b;
  const merged = new Int32Array(a.length + b.length);
  let size = 0;
  for (let i = 0, k = 0; i < a.length || k < b.length;) {
    const x = a[i] ?? Infinity;
    const y = b[k] ?? Infinity;
    merged[size++] = Math.min(x, y);
    if (x <= y) i++;
    if (y <= x) k++;
  }
  return merged.subarray(0, size);
};
