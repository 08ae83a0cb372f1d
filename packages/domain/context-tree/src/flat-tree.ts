import type { EventRef, FixedRecords, Headers, NodeRecord, TurnRecord } from './node.ts';

/** The kind of a node, whatever its user type (context-tree §1, §10.1). */
export const NODE_KIND = { root: 0, sys: 1, seq: 2, ah: 3, turn: 4, container: 5, block: 6 } as const;

/** In {@link FlatTree.depths}: root and regions have no depth. */
export const NO_DEPTH = -0x8000_0000;

/**
 * A tree at one position, immutable: parallel arrays in document order (the order of the provider thread). Index 0 is
 * the root, then `^sys` and its subtree, `^seq` with the turns oldest first, `^ah`. The subtree of `i` is `i … ends[i]
 * - 1`.
 */
export type FlatTree = {
  /** The cycle of the newest commit or import at this position; 0 before the first. */
  readonly cycle: number;
  readonly count: number;
  readonly ids: readonly string[];
  readonly headers: readonly Headers[];
  /** The `ttl` that an export of this position shows; `headers[i].ttl` is the given one. */
  readonly ttls: readonly (number | null)[];
  /** The first cycle without the node, from its record. */
  readonly expires: readonly (number | null)[];
  /** The events that hold content and non-header attributes; null: there are none. */
  readonly payloads: readonly (EventRef | null)[];
  /** Values of {@link NODE_KIND}. */
  readonly kinds: Uint8Array;
  /** The index of the parent; -1 for the root. */
  readonly parents: Int32Array;
  /** The index after the last node of the subtree. */
  readonly ends: Int32Array;
  /** -1 under `^sys`, 0 under `^ah`, n for turns and their descendants, {@link NO_DEPTH} for root and regions. */
  readonly depths: Int32Array;
  readonly sys: number;
  readonly seq: number;
  readonly ah: number;
  /** The index of the node with this id, or undefined. */
  indexOf(id: string): number | undefined;
};

/** The id of the parent of the node at an index; null for the root. */
export const parentIdAt = (tree: FlatTree, index: number): string | null => {
  const parent = tree.parents[index] ?? -1;
  return parent === -1 ? null : (tree.ids[parent] ?? null);
};

/** The depth of the node at an index; null for the root and the regions. */
export const depthAt = (tree: FlatTree, index: number): number | null => {
  const depth = tree.depths[index] ?? NO_DEPTH;
  return depth === NO_DEPTH ? null : depth;
};

/** True for a sealed turn and what stands in it; under `^sys` and `^ah` everything is open. */
export const isInTurn = ({ depths }: FlatTree, index: number): boolean => (depths[index] ?? NO_DEPTH) >= 1;

/** True for the core of a sealed turn, which never changes (context-tree §2). */
export const isSealedCore = (tree: FlatTree, index: number): boolean =>
  isInTurn(tree, index) && tree.headers[index]?.offset === 0;

/**
 * Some nodes of trees, and all that they contain in one of them. Undefined if the root or a region is among them: these contain what
 * every location has.
 */
export const withContained = (
  ids: ReadonlySet<string>,
  trees: readonly FlatTree[],
): ReadonlySet<string> | undefined => {
  const all = new Set(ids);
  for (const tree of trees)
    for (const id of ids) {
      const index = tree.indexOf(id);
      if (index === undefined) continue;
      if ((tree.kinds[index] as number) < NODE_KIND.turn) return undefined;
      for (let i = index + 1; i < (tree.ends[index] as number); i++) all.add(tree.ids[i] as string);
    }
  return all;
};

/** The parts of a flat tree: the records that exist at a position, in any order. */
export type TreeParts = {
  readonly cycle: number;
  readonly fixed: FixedRecords;
  readonly turns: Iterable<TurnRecord>;
  readonly nodes: Iterable<NodeRecord>;
};
