import { NODE_KIND, type FlatTree } from '@stemma/context-tree';
import { attributeIndex, type AttributeIndex } from './attribute-index.ts';
import { codeOfCore, codeOfNode } from './codes.ts';

/** Indexes of a tree, built when first needed and kept as long as the tree. */
export type TreeIndex = {
  readonly tree: FlatTree;
  /** Sealed turns, oldest first. */
  readonly turns: readonly number[];
  /** The nodes that have zones and may have an implicit core: the turns, then `^ah`. */
  readonly owners: readonly number[];
  /** The first block of the implicit core of a turn or `^ah`; -1: it has none (context-tree §1, §10.3). */
  coreOf(owner: number): number;
  /** The {@link codeOfNode} of every turn, ascending. */
  turnCodes(): Int32Array;
  /** The {@link codeOfCore} of every implicit core, ascending. */
  cores(): Int32Array;
  /** The children of a turn or `^ah` whose offset has this sign, as the range [from, to). */
  zone(owner: number, sign: number): readonly [from: number, to: number];
  /**
   * For every node the sign of an offset: that of the child of a turn (or of `^ah`) which the node is, or in which it lies.
   * {@link NO_SIDE} for nodes outside turns and `^ah`.
   */
  sides(): Int8Array;
  /** The node with an id; undefined: there is none. The first search is a scan, later ones use the index of ids. */
  find(id: string): number | undefined;
  /** A reusable set of codes, so that a query about many nodes need not allocate one. */
  readonly marks: CodeFlags;
  /** The index of an attribute; undefined on the first request, because one scan costs less than an index. */
  attribute(key: string): AttributeIndex | undefined;
};

/** One byte for each code. A set marks its codes with a value that no byte holds yet, so the array need not be cleared. */
export type CodeFlags = {
  array(): Uint8Array;
  /** The number of sets that have used the array. Only the last one can rely on its marks. */
  turn(): number;
  /** The number of the next set, and its mark, which no byte of the array has. */
  next(): { readonly turn: number; readonly mark: number };
};

const NO_SIDE = 2;

const indexes = new WeakMap<FlatTree, TreeIndex>();

export const indexOfTree = (tree: FlatTree): TreeIndex => {
  const known = indexes.get(tree);
  if (known !== undefined) return known;
  const made = makeIndex(tree);
  indexes.set(tree, made);
  return made;
};

const makeIndex = (tree: FlatTree): TreeIndex => {
  const { ends, headers, kinds } = tree;
  const turns: number[] = [];
  for (let turn = tree.seq + 1; turn < tree.ah; turn = ends[turn] as number) turns.push(turn);
  const owners = [...turns, tree.ah];
  const attributes = new Map<string, AttributeIndex | null>();
  let turnCodes: Int32Array | undefined;
  let cores: Int32Array | undefined;
  let sides: Int8Array | undefined;
  let asked = false;

  const zone = (owner: number, sign: number): readonly [number, number] => {
    const end = ends[owner] as number;
    let from = owner + 1;
    while (from < end && Math.sign(headers[from]?.offset ?? 0) < sign) from = ends[from] as number;
    let to = from;
    while (to < end && Math.sign(headers[to]?.offset ?? 0) === sign) to = ends[to] as number;
    return [from, to];
  };
  const coreOf = (owner: number): number => {
    const [from, to] = zone(owner, 0);
    return from < to && kinds[from] === NODE_KIND.block ? from : -1;
  };
  return {
    tree,
    turns,
    owners,
    zone,
    coreOf,
    turnCodes: () => (turnCodes ??= Int32Array.from(turns, codeOfNode)),
    cores: () =>
      (cores ??= Int32Array.from(
        owners.map(coreOf).filter((block) => block !== -1),
        codeOfCore,
      )),
    find(id) {
      if (asked) return tree.indexOf(id);
      asked = true;
      const found = tree.ids.indexOf(id);
      return found === -1 ? undefined : found;
    },
    marks: marksFor(tree.count),
    sides: () => (sides ??= sidesOf(tree)),
    attribute(key) {
      const known = attributes.get(key);
      if (known !== undefined && known !== null) return known;
      const made = known === null ? attributeIndex(tree, key) : null;
      attributes.set(key, made);
      return made ?? undefined;
    },
  };
};

const marksFor = (count: number): CodeFlags => {
  let marks: Uint8Array | undefined;
  let turn = 0;
  const array = (): Uint8Array => (marks ??= new Uint8Array(2 * count));
  return {
    array,
    turn: () => turn,
    next() {
      turn += 1;
      const mark = 1 + (turn % 255);
      if (mark === 1) array().fill(0);
      return { turn, mark };
    },
  };
};

const sidesOf = ({ count, kinds, parents, headers }: FlatTree): Int8Array => {
  const sides = new Int8Array(count).fill(NO_SIDE);
  for (let i = 1; i < count; i++) {
    const parent = parents[i] as number;
    const kind = kinds[parent];
    sides[i] =
      kind === NODE_KIND.turn || kind === NODE_KIND.ah
        ? Math.sign(headers[i]?.offset ?? 0)
        : (sides[parent] as number);
  }
  return sides;
};
