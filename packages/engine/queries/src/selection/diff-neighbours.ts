import { diffTrees, withContained, type FlatTree } from '@stemma/context-tree';
import type { TreeAt } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import type { DiffResult } from '../read-types.ts';
import { idsBetween } from './frames-between.ts';

/** Between positions that are further apart than this many frames, both trees are compared whole. */
const MAX_FRAMES = 1_000;

/**
 * The difference of two trees that are in memory (context-tree §7), the older one on the ancestor path of the newer one: of nodes that
 * frames between them named, that a commit sealed, or that age. The rest is the same in both, and is not looked at.
 */
export const diffNeighbours = async (
  projection: Projection,
  older: TreeAt,
  newer: TreeAt,
): Promise<DiffResult> => {
  const { history } = newer.position;
  const isNear = newer.position.seq - older.position.seq <= MAX_FRAMES;
  const named = isNear ? await idsBetween(projection, history, older.position, newer.position) : undefined;
  const ids = named && differingIds(older.tree, newer.tree, named);
  return projection.payloads.using(history, (source) => diffTrees(older.tree, newer.tree, source, ids));
};

/** Undefined: every node may differ, as a frame changed the root or a region. */
const differingIds = (
  older: FlatTree,
  newer: FlatTree,
  named: ReadonlySet<string>,
): ReadonlySet<string> | undefined => {
  const ids = new Set([...named, ...older.ids.slice(older.ah + 1)]);
  for (const tree of [older, newer]) for (const id of expiringIds(tree)) ids.add(id);
  return withContained(ids, [older, newer]);
};

const expiring = new WeakMap<FlatTree, readonly string[]>();

/** The nodes of a tree whose `ttl` is another in every snapshot; found once for each tree. */
const expiringIds = (tree: FlatTree): readonly string[] => {
  const known = expiring.get(tree) ?? tree.ids.filter((_id, i) => tree.expires[i] !== null);
  expiring.set(tree, known);
  return known;
};
