import type { FlatTree } from '@stemma/context-tree';
import { depthTest } from './depths.ts';
import { codeOfCore, codeOfNode, indexOfCode, isCore, type TreeIndex } from './tree-index.ts';
import type { Depths } from './syntax.ts';

/** A stretch of codes, [from, to). */
export type Range = readonly [from: number, to: number];

/**
 * What a compound matched, as the compound to its right sees it: nodes and implicit cores, zones, or a scope
 * (context-tree §6, §10.24 to §10.27).
 */
export type Matches = {
  /** The codes below each match, ascending by where they begin; those of nested matches overlap. */
  readonly below: readonly Range[];
  /** All of `below` is below one match: a scope. */
  readonly one: boolean;
  /** The match that a node or implicit core is a child of, as any number that tells it from others; -1: of none. */
  parentOf(code: number): number;
  /** The nodes that are children of a match, each once. Not ascending where matches are nested. */
  children(): number[];
  /** The turns and `^ah` whose zones are below a match, or only those directly below. */
  zoneOwners(directly: boolean): readonly number[];
  /** Whether `^root` is one of them: only there a scope is found. */
  readonly root: boolean;
  /** The nodes that are given when the compound is the last one, ascending. */
  given(): readonly number[];
};

/** Nodes and implicit cores, as ascending codes. */
export const nodeMatches = (codes: readonly number[], index: TreeIndex): Matches => {
  const { tree, owners } = index;
  const { ends, parents } = tree;
  // The matches of the last compound are only given: what the next one would see is worked out when it is asked for.
  let ranges: readonly Range[] | undefined;
  let members: ((code: number) => boolean) | undefined;
  let withCores: boolean | undefined;
  const matched = (code: number): boolean => (members ??= memberOf(codes, tree.count))(code);
  const rangeOf = (code: number): Range => {
    const at = indexOfCode(code);
    return isCore(code)
      ? [code + 1, codeOfCore(index.zone(parents[at] as number, 0)[1])]
      : [code + 1, codeOfCore(ends[at] as number)];
  };
  const below = (): readonly Range[] => (ranges ??= codes.map(rangeOf));
  const coreParent = (at: number): number => {
    const first = (withCores ??= codes.some(isCore)) ? index.coreOf(parents[at] as number) : -1;
    if (first === -1 || !matched(codeOfCore(first))) return -1;
    return index.tree.headers[at]?.offset === 0 ? codeOfCore(first) : -1;
  };
  return {
    get below() {
      return below();
    },
    one: false,
    parentOf(code) {
      const at = indexOfCode(code);
      const parent = parents[at] as number;
      if (parent === -1) return -1;
      if (matched(codeOfNode(parent))) return codeOfNode(parent);
      return isCore(code) ? -1 : coreParent(at);
    },
    children: () => {
      const found: number[] = [];
      for (const [from, to] of below()) takeSiblings(tree, from >> 1, to >> 1, found);
      return found;
    },
    zoneOwners: (directly) =>
      directly
        ? owners.filter((owner) => matched(codeOfNode(owner)))
        : inStretches(
            owners,
            codes.filter((code) => !isCore(code)).map((code) => [code >> 1, ends[code >> 1] as number]),
          ),
    root: codes[0] === codeOfNode(0),
    given: () => codes.map(indexOfCode),
  };
};

/** The zones of some turns (or of `^ah`): their children with a sign. */
export const zoneMatches = (owners: readonly number[], sign: number, index: TreeIndex): Matches => {
  const { tree } = index;
  const zones = owners.map((owner) => index.zone(owner, sign)).filter(([from, to]) => from < to);
  const matched = memberOf(
    zones.map(([from]) => codeOfNode(tree.parents[from] as number)),
    tree.count,
  );
  const children = (): number[] => {
    const found: number[] = [];
    for (const [from, to] of zones) takeSiblings(tree, from, to, found);
    return found;
  };
  return {
    below: zones.map(([from, to]) => [codeOfCore(from), codeOfCore(to)]),
    one: false,
    parentOf: (code) => {
      const at = indexOfCode(code);
      const parent = tree.parents[at] as number;
      return parent !== -1 && matched(codeOfNode(parent)) && Math.sign(tree.headers[at]?.offset ?? 0) === sign
        ? parent
        : -1;
    },
    children,
    zoneOwners: () => [],
    root: false,
    given: children,
  };
};

/** The scope of some depths: one match, a child of the root. */
export const scopeMatches = (depths: Depths, index: TreeIndex): Matches => {
  const { tree, turns } = index;
  const { ends, sys, seq, ah } = tree;
  const wanted = depthTest(depths);
  const chosen = turns.filter((_, i) => wanted(turns.length - i));
  const below: Range[] = [];
  if (wanted(-1)) below.push([codeOfCore(sys + 1), codeOfCore(seq)]);
  for (const turn of chosen) below.push([codeOfNode(turn), codeOfCore(ends[turn] as number)]);
  if (wanted(0)) below.push([codeOfCore(ah + 1), codeOfCore(ends[ah] as number)]);
  const isChosen = memberOf(chosen.map(codeOfNode), tree.count);
  const children = (): number[] => {
    const found: number[] = [];
    if (wanted(-1)) takeSiblings(tree, sys + 1, seq, found);
    found.push(...chosen);
    if (wanted(0)) takeSiblings(tree, ah + 1, ends[ah] as number, found);
    return found;
  };
  return {
    below,
    one: true,
    parentOf: (code) => {
      const at = indexOfCode(code);
      const parent = tree.parents[at] as number;
      if (parent === seq) return isChosen(codeOfNode(at)) ? 0 : -1;
      return (parent === sys && wanted(-1)) || (parent === ah && wanted(0)) ? 0 : -1;
    },
    children,
    zoneOwners: (directly) => [...(directly ? [] : chosen), ...(wanted(0) ? [ah] : [])],
    root: false,
    given: children,
  };
};

/** Adds the nodes from `from` on that are siblings, up to `to`. */
const takeSiblings = ({ ends }: FlatTree, from: number, to: number, found: number[]): void => {
  for (let i = from; i < to; i = ends[i] as number) found.push(i);
};

/** A set of codes: bits where there are many, so that a small set costs nothing on a large tree. */
const memberOf = (codes: readonly number[], count: number): ((code: number) => boolean) => {
  if (codes.length < count / 64) {
    const set = new Set(codes);
    return (code) => set.has(code);
  }
  const bits = new Uint8Array(2 * count);
  for (const code of codes) bits[code] = 1;
  return (code) => bits[code] === 1;
};

/** Those of the ascending numbers that lie in one of the stretches, each once. */
const inStretches = (numbers: readonly number[], stretches: readonly Range[]): readonly number[] => {
  const found: number[] = [];
  for (const [from, to] of mergeRanges(stretches))
    for (let i = lowerBound(numbers, from); i < numbers.length && (numbers[i] as number) < to; i++)
      found.push(numbers[i] as number);
  return found;
};

/** The same codes as ascending ranges that do not overlap. The ranges ascend by where they begin. */
export const mergeRanges = (ranges: readonly Range[]): readonly Range[] => {
  const merged: Range[] = [];
  let [from, to] = [0, 0];
  for (const range of ranges) {
    if (range[0] <= to && to > from) to = Math.max(to, range[1]);
    else {
      if (to > from) merged.push([from, to]);
      [from, to] = range;
    }
  }
  if (to > from) merged.push([from, to]);
  return merged;
};

/** Where the first of the ascending numbers stands that is not below `least`. */
export const lowerBound = (numbers: readonly number[], least: number): number => {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
};
