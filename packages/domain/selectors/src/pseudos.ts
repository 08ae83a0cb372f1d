import { NO_DEPTH, NODE_KIND } from '@stemma/context-tree';
import { collect } from '@stemma/suspend';
import { contentAt, type AttributeSource } from './attributes.ts';
import { containsText, workOf } from './compare.ts';
import { depthBounds, depthTest } from './depths.ts';
import { indexOfCode, isCore } from './codes.ts';
import type { TreeIndex } from './tree-index.ts';
import type { Pseudo } from './syntax.ts';

/** A node or an implicit core passes, whatever else is matched. Codes are those of tree-index. */
export type Filter = (code: number) => boolean;
/** Which of so many matches under one match is meant; any other number: none. */
export type Pick = (count: number) => number;

type Plain = Extract<Pseudo['name'], 'pre' | 'core' | 'post' | 'depth' | 'contains'>;
type Counting = Exclude<Pseudo['name'], Plain>;
type Of<Name> = Extract<Pseudo, { name: Name }>;

/** Pseudos that look at one node. A new one is a new line. */
const FILTERS: {
  readonly [Name in Plain]: (pseudo: Of<Name>, index: TreeIndex, asked: AttributeSource) => Filter;
} = {
  pre: (_, index) => side(index, -1),
  core: (_, index) => side(index, 0),
  post: (_, index) => side(index, 1),
  depth: ({ depths }, { tree }) => {
    const wanted = depthTest(depths);
    return (code) => {
      const depth = tree.depths[indexOfCode(code)] as number;
      return depth !== NO_DEPTH && wanted(depth);
    };
  },
  contains: ({ text }, index, asked) => containing(text, index, asked),
};

/** Pseudos that count the matches under one match of the compound to the left. A new one is a new line. */
const PICKS: { readonly [Name in Counting]: (pseudo: Of<Name>) => Pick } = {
  first: () => () => 0,
  last: () => (count) => count - 1,
  nth:
    ({ n }) =>
    () =>
      n - 1,
};

export const isCounting = (pseudo: Pseudo): boolean => Object.hasOwn(PICKS, pseudo.name);

export const filterOf = (pseudo: Pseudo, index: TreeIndex, asked: AttributeSource): Filter =>
  (FILTERS[pseudo.name as Plain] as (pseudo: Pseudo, index: TreeIndex, asked: AttributeSource) => Filter)(
    pseudo,
    index,
    asked,
  );

export const pickOf = (pseudo: Pseudo): Pick =>
  (PICKS[pseudo.name as Counting] as (pseudo: Pseudo) => Pick)(pseudo);

/** The sign of the offset that makes a zone; undefined for a pseudo that makes none (context-tree §6). */
export const zoneSign = ({ name }: Pseudo): number | undefined =>
  name === 'pre' ? -1 : name === 'core' ? 0 : name === 'post' ? 1 : undefined;

/** The part of the document in which a depth lies, [from, to) in nodes: what `:depth(1-3)` need not look beyond. */
export const depthWindow = (pseudo: Of<'depth'>, { tree, turns }: TreeIndex): readonly [number, number] => {
  const { minDepth, maxDepth } = depthBounds(pseudo.depths);
  const from =
    minDepth <= -1 ? 0 : maxDepth >= 1 ? (turns[Math.max(0, turns.length - maxDepth)] ?? tree.ah) : tree.ah;
  const newest = turns[turns.length - Math.max(1, minDepth)];
  const to = minDepth <= 0 ? tree.count : newest === undefined ? from : (tree.ends[newest] as number);
  return [from, to];
};

/** Nodes by the side of the core they are on; the implicit core is core (context-tree §6, §10.25). */
const side = (index: TreeIndex, sign: number): Filter => {
  const sides = index.sides();
  return (code) => (isCore(code) ? sign === 0 : sides[indexOfCode(code)] === sign);
};

/** Nodes that have the text in their content, or that have such a node below them (context-tree §6: containing). */
const containing = (text: string, index: TreeIndex, asked: AttributeSource): Filter => {
  const { tree } = index;
  const { ends, kinds, parents } = tree;
  // Of each node only once: those that hold others are asked about the same ones again.
  let known: Uint8Array | undefined;
  const holds = (at: number): boolean => {
    known ??= new Uint8Array(tree.count);
    if (known[at] !== NOT_ASKED) return known[at] === YES;
    const answer = kinds[at] === NODE_KIND.block ? ownHolds(at) : amongHolds(at + 1, ends[at] as number);
    known[at] = answer ? YES : NO;
    return answer;
  };
  const ownHolds = (at: number): boolean => {
    const content = contentAt(asked, at);
    asked.spend?.(CONTENT_READ + workOf(content));
    return containsText(content ?? null, text);
  };
  const amongHolds = (from: number, to: number): boolean => {
    asked.spend?.(1);
    return collect((attempt) => {
      for (let at = from; at < to; at = ends[at] as number) if (attempt(holds, at, false)) return true;
      return false;
    });
  };
  return (code) => {
    const at = indexOfCode(code);
    return isCore(code) ? amongHolds(...index.zone(parents[at] as number, 0)) : holds(at);
  };
};

const [NOT_ASKED, NO, YES] = [0, 1, 2] as const;

/** What getting at a content costs, in tests of nodes. */
const CONTENT_READ = 4;
