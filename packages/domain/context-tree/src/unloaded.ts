import { missing, missingKind } from '@stemma/suspend';
import type { NodeRecord, PayloadSource } from './node.ts';
import type { TreeNode } from './tree-node.ts';

/** What is kept of a turn at the newest snapshot and now, so that its nodes need not be loaded. */
export type TurnSum = {
  /** The numbers of its nodes and blocks, itself not counted. */
  readonly nodes: number;
  readonly blocks: number;
  /** Its digest and the hash of its slice of the thread at the newest snapshot, as latin1 texts. */
  readonly digest: string | undefined;
  readonly slice: string | undefined;
};

/** What is kept of the turns of a tree whose records are only in part at hand. */
export type KeptSums = {
  /** The sum over the children of `^seq` at the newest snapshot. */
  readonly sum: Uint8Array;
  readonly turns: readonly (TurnSum & {
    /** True if the turn's nodes are among the records. */
    readonly loaded: boolean;
  })[];
};

/** What whoever loads turns needs of a tree. */
export type PartialTree = {
  readonly turns: readonly TreeNode[];
  isLoaded(turn: TreeNode): boolean;
  noteAbsent(id: string): void;
  load(turn: TreeNode, records: Iterable<NodeRecord>, source: PayloadSource | null): void;
};

/** Nodes that a tree lacks: those of a turn, or the one with an id, if any turn that is not loaded has it. */
export type Unloaded = { readonly tree: PartialTree } & (
  { readonly turn: TreeNode } | { readonly id: string }
);

/** Nodes of turns that must be loaded with `Tree.load` before a function can use them. */
export const UNLOADED = missingKind<Unloaded>('nodes of turns', (need) =>
  'turn' in need ? need.turn : need.id,
);

/** The needs, and in their trees any nodes that have one of these ids: who adds nodes must know whether an id is taken. */
export const withIds = (needs: readonly Unloaded[], ids: readonly string[]): readonly Unloaded[] => {
  const trees = Array.from(new Set(needs.map(({ tree }) => tree)));
  return [...needs, ...ids.flatMap((id) => trees.map((tree) => ({ tree, id })))];
};

/** Children that throw Missing when anybody looks at them. */
export const unloadedKids = (tree: PartialTree, turn: TreeNode): TreeNode[] =>
  new Proxy<TreeNode[]>([], {
    get() {
      throw missing(UNLOADED, [{ tree, turn }]);
    },
  });
