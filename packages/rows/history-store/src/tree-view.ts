import type { FlatTree, PayloadSource } from '@stemma/context-tree';
import type { Position } from './position.ts';

/** The tree at a position, for reading. */
export type TreeView = TreeAt & { readonly payloads: PayloadSource };

/** The tree at a position without its contents. */
export type TreeAt = {
  readonly position: Position;
  readonly tree: FlatTree;
  readonly thread: 'full' | 'pre';
};
