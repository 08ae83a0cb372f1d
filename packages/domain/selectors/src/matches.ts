import { codeOfCore, codeOfNode, indexOfCode, isCore } from './codes.ts';
import { depthTest } from './depths.ts';
import { numbersInRanges, siblingsIn, type IndexRanges } from './index-ranges.ts';
import type { Depths } from './syntax.ts';
import type { TreeIndex } from './tree-index.ts';

/**
 * The matches of a compound, as the compound to its right sees them: nodes and implicit cores, zones, or a scope
 * (context-tree §6, §10.24 to §10.27).
 */
export type Matches = {
  /** The ranges of codes below each match, ascending by their start. Ranges of nested matches overlap. */
  readonly below: IndexRanges;
  /** True if one match has everything in `below`: a scope. */
  readonly one: boolean;
  /** A number for the match whose child a node or implicit core is, different for each match; -1: it is a child of none. */
  parentOf(code: number): number;
  /** Marks of the matches by code, if they alone tell which nodes are children of a match; undefined: ask `parentOf`. */
  parentMarks(): { readonly array: Uint8Array; readonly mark: number } | undefined;
  /** The nodes that are children of a match, each once. Not ascending where matches are nested. */
  children(): Int32Array;
  /** The turns and `^ah` whose zones are below a match, or only those directly below. */
  zoneOwners(directly: boolean): readonly number[];
  /** True if `^root` is a match: only a child of it can be a scope. */
  readonly root: boolean;
  /** The codes of the nodes that the selector returns if this compound is the last one, ascending. */
  given(): Int32Array;
};

/** Nodes and implicit cores, as ascending codes. */
export const nodeMatches = (codes: Int32Array, index: TreeIndex): Matches => {
  const { tree, owners } = index;
  const { ends, parents } = tree;
  // Nothing asks the last compound for what comes below its matches, so that is computed only on demand.
  let ranges: IndexRanges | undefined;
  let members: Members | undefined;
  let withCores: boolean | undefined;
  const matched = (code: number): boolean => (members ??= membersOf(codes, index)).has(code);
  const hasCores = (): boolean => (withCores ??= codes.some(isCore));
  const below = (): IndexRanges => (ranges ??= rangesBelow(codes, index));
  const coreParent = (at: number): number => {
    const first = hasCores() ? index.coreOf(parents[at] as number) : -1;
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
    parentMarks: () => (hasCores() ? undefined : (members ??= membersOf(codes, index)).marks()),
    children: () => siblingsIn(tree, below()),
    zoneOwners: (directly) =>
      directly
        ? owners.filter((owner) => matched(codeOfNode(owner)))
        : numbersInRanges(
            owners,
            Int32Array.from(
              [...codes]
                .filter((code) => !isCore(code))
                .flatMap((code) => [code >> 1, ends[code >> 1] as number]),
            ),
          ),
    root: codes[0] === codeOfNode(0),
    given: () => codes,
  };
};

const rangesBelow = (codes: Int32Array, index: TreeIndex): IndexRanges => {
  const { ends, parents } = index.tree;
  const ranges = new Int32Array(2 * codes.length);
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    const at = indexOfCode(code);
    ranges[2 * i] = code + 1;
    ranges[2 * i + 1] = codeOfCore(
      isCore(code) ? index.zone(parents[at] as number, 0)[1] : (ends[at] as number),
    );
  }
  return ranges;
};

/** The zones of some turns (or of `^ah`): their children with a sign. */
export const zoneMatches = (owners: readonly number[], sign: number, index: TreeIndex): Matches => {
  const { tree } = index;
  const zones = owners.map((owner) => index.zone(owner, sign)).filter(([from, to]) => from < to);
  const matched = membersOf(
    Int32Array.from(zones, ([from]) => codeOfNode(tree.parents[from] as number)),
    index,
  );
  const below = Int32Array.from(zones.flatMap(([from, to]) => [codeOfCore(from), codeOfCore(to)]));
  const children = (): Int32Array => siblingsIn(tree, below);
  return {
    below,
    one: false,
    parentOf: (code) => {
      const at = indexOfCode(code);
      const parent = tree.parents[at] as number;
      return parent !== -1 &&
        matched.has(codeOfNode(parent)) &&
        Math.sign(tree.headers[at]?.offset ?? 0) === sign
        ? parent
        : -1;
    },
    parentMarks: () => undefined,
    children,
    zoneOwners: () => [],
    root: false,
    given: () => children().map(codeOfNode),
  };
};

/** The scope of some depths: one match, a child of the root. */
export const scopeMatches = (depths: Depths, index: TreeIndex): Matches => {
  const { tree, turns } = index;
  const { ends, sys, seq, ah } = tree;
  const wanted = depthTest(depths);
  const chosen = turns.filter((_, i) => wanted(turns.length - i));
  const head = [codeOfCore(ah + 1), codeOfCore(ends[ah] as number)];
  const header = [codeOfCore(sys + 1), codeOfCore(seq)];
  const isChosen = membersOf(Int32Array.from(chosen, codeOfNode), index);
  const children = (): Int32Array =>
    Int32Array.from([
      ...(wanted(-1) ? siblingsIn(tree, Int32Array.from(header)) : []),
      ...chosen,
      ...(wanted(0) ? siblingsIn(tree, Int32Array.from(head)) : []),
    ]);
  return {
    below: Int32Array.from([
      ...(wanted(-1) ? header : []),
      ...chosen.flatMap((turn) => [codeOfNode(turn), codeOfCore(ends[turn] as number)]),
      ...(wanted(0) ? head : []),
    ]),
    one: true,
    parentOf: (code) => {
      const at = indexOfCode(code);
      const parent = tree.parents[at] as number;
      if (parent === seq) return isChosen.has(codeOfNode(at)) ? 0 : -1;
      return (parent === sys && wanted(-1)) || (parent === ah && wanted(0)) ? 0 : -1;
    },
    parentMarks: () => undefined,
    children,
    zoneOwners: (directly) => [...(directly ? [] : chosen), ...(wanted(0) ? [ah] : [])],
    root: false,
    given: () => children().map(codeOfNode),
  };
};

/** A set of codes: marks where there are many, so that a small set costs nothing on a large tree. */
type Members = {
  readonly has: (code: number) => boolean;
  readonly marks: () => { readonly array: Uint8Array; readonly mark: number } | undefined;
};

const membersOf = (codes: Int32Array, { tree, marks }: TreeIndex): Members => {
  if (codes.length < tree.count / 64) {
    const set = new Set(codes);
    return { has: (code) => set.has(code), marks: () => undefined };
  }
  const array = marks.array();
  let turn = -1;
  let mark = 0;
  // Another set may have marked its own since.
  const fresh = (): number => {
    if (turn === marks.turn()) return mark;
    ({ turn, mark } = marks.next());
    for (let i = 0; i < codes.length; i++) array[codes[i] as number] = mark;
    return mark;
  };
  return {
    has(code) {
      const wanted = fresh();
      return array[code] === wanted;
    },
    marks: () => ({ mark: fresh(), array }),
  };
};
