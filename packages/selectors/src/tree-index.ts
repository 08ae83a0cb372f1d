import { NODE_KIND, type FlatTree } from '@stemma/context-tree';
import { attributeIndex, type AttributeIndex } from './attribute-index.ts';

/** What is worked out about a tree when it is first needed, and kept as long as the tree. */
export type TreeIndex = {
  readonly tree: FlatTree;
  /** Sealed turns, oldest first. */
  readonly turns: readonly number[];
  /** What has zones and may have an implicit core: the turns, then `^ah`. */
  readonly owners: readonly number[];
  /** The first block of the implicit core of a turn or `^ah`; -1: it has none (context-tree §1, §10.3). */
  coreOf(owner: number): number;
  /** The {@link codeOfCore} of every implicit core, ascending. */
  cores(): readonly number[];
  /** The children of a turn or `^ah` with this sign of their offset, as the stretch from the first to behind the last. */
  zone(owner: number, sign: number): readonly [from: number, to: number];
  /**
   * Of every node the sign of the offset of the child of a turn (or of `^ah`) that it is or lies in; {@link NO_SIDE} for
   * those that lie in neither.
   */
  sides(): Int8Array;
  /** The node with an id; undefined: there is none. The first time it is looked for, from then on by the index of ids. */
  find(id: string): number | undefined;
  /** The index of an attribute; undefined the first time it is asked for: one scan costs less than an index. */
  attribute(key: string): AttributeIndex | undefined;
};

/** Nodes and implicit cores in document order: a core comes just before its first block. */
export const codeOfNode = (index: number): number => 2 * index + 1;
export const codeOfCore = (firstBlock: number): number => 2 * firstBlock;
export const isCore = (code: number): boolean => code % 2 === 0;
/** The node, or the first block of the core. */
export const indexOfCode = (code: number): number => code >> 1;

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
  let cores: readonly number[] | undefined;
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
    cores: () =>
      (cores ??= owners
        .map(coreOf)
        .filter((block) => block !== -1)
        .map(codeOfCore)),
    find(id) {
      if (asked) return tree.indexOf(id);
      asked = true;
      const found = tree.ids.indexOf(id);
      return found === -1 ? undefined : found;
    },
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
