import { NO_DEPTH } from '@stemma/context-tree';
import { depthBounds, depthTest } from './depths.ts';
import { indexOfCode, isCore } from './codes.ts';
import type { TreeIndex } from './tree-index.ts';
import type { Pseudo } from './syntax.ts';

/** A node or an implicit core passes, whatever else is matched. Codes are those of tree-index. */
export type Filter = (code: number) => boolean;
/** Which of so many matches under one match is meant; any other number: none. */
export type Pick = (count: number) => number;

type Plain = Extract<Pseudo['name'], 'pre' | 'core' | 'post' | 'depth'>;
type Counting = Exclude<Pseudo['name'], Plain>;
type Of<Name> = Extract<Pseudo, { name: Name }>;

/** Pseudos that look at one node. A new one is a new line. */
const FILTERS: { readonly [Name in Plain]: (pseudo: Of<Name>, index: TreeIndex) => Filter } = {
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

export const filterOf = (pseudo: Pseudo, index: TreeIndex): Filter =>
  (FILTERS[pseudo.name as Plain] as (pseudo: Pseudo, index: TreeIndex) => Filter)(pseudo, index);

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
