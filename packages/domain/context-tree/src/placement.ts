import { lowerBound } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { NODE_KIND } from './flat-tree.ts';
import type { NodeRecord } from './node.ts';
import { eachInSubtree, headersOf, idOf, regionOf, type TreeNode } from './tree-node.ts';
import type { Tree } from './tree.ts';

/** The fields of a node that decide where it may be placed. */
export type NodePlacement = { readonly id: string; readonly kind: number; readonly offset: number };

/** The most nested containers; deeper trees could not be read again from their JSON. */
const MAX_LEVELS = 100;

const levelsAbove = (node: TreeNode): number => {
  let levels = 0;
  for (let at: TreeNode | null = node; at !== null && at.kind >= NODE_KIND.turn; at = at.parent) levels++;
  return levels;
};

const levelsBelow = (node: TreeNode): number =>
  node.kids === null ? 0 : 1 + node.kids.reduce((most, kid) => Math.max(most, levelsBelow(kid)), 0);

export const refuseLevels = (levels: number, id: string): void => {
  if (levels > MAX_LEVELS)
    throw fail('E_INPUT_TOO_DEEP', `${id}: containers may be nested at most ${MAX_LEVELS} deep`);
};

/** The node with this id. @throws E_NODE_NOT_FOUND */
export const requireNode = (tree: Tree, id: string): TreeNode => {
  const node = tree.get(id);
  if (node === undefined) throw fail('E_NODE_NOT_FOUND', `there is no node ${id}`, { id });
  return node;
};

/** Core rule of a turn or the head: at most one `mc`, and then no block at offset 0 (context-tree §1, §10.3). */
export const refuseSecondCore = (
  siblings: readonly NodePlacement[],
  node: NodePlacement,
  where: string,
): void => {
  if (node.offset !== 0) return;
  const clash = siblings.find(
    (other) =>
      other.id !== node.id &&
      other.offset === 0 &&
      (other.kind === NODE_KIND.container || node.kind === NODE_KIND.container),
  );
  if (clash !== undefined)
    throw fail('E_TWO_CORES', `${where} already has a core: ${clash.id} conflicts with ${node.id}`, {
      id: node.id,
      core: clash.id,
    });
};

/** Under a turn or `^ah` a container is the core (context-tree §10.2). */
export const refuseCoreOffset = (node: NodePlacement, where: string): void => {
  if (node.kind === NODE_KIND.container && node.offset !== 0)
    throw fail(
      'E_PLACEMENT',
      `${node.id} is a container directly under ${where}: its offset must be 0, not ${node.offset}`,
      { id: node.id },
    );
};

const nodePlacement = (node: TreeNode): NodePlacement => ({
  id: idOf(node),
  kind: node.kind,
  offset: headersOf(node).offset,
});

/** @throws E_PLACEMENT, E_SEALED, E_TWO_CORES, E_INPUT_TOO_DEEP unless `node` may be inserted below `parent` (context-tree §3, §10.2, §10.16). */
export const refuseInsert = (parent: TreeNode, node: NodePlacement): void => {
  refuseUnder(parent, node);
  refuseLevels(levelsAbove(parent) + (node.kind === NODE_KIND.container ? 1 : 0), node.id);
  if (parent.kind === NODE_KIND.turn) {
    if (node.kind !== NODE_KIND.block || node.offset === 0)
      throw fail(
        'E_SEALED',
        `${idOf(parent)} is sealed: only blocks with an offset other than 0 can be attached to it, not ${node.id}`,
        { id: node.id },
      );
    return;
  }
  if (regionOf(parent) === NODE_KIND.seq)
    throw fail('E_SEALED', `${idOf(parent)} is in a sealed turn`, { id: node.id });
};

const refuseUnder = (parent: TreeNode, node: NodePlacement): void => {
  const where = idOf(parent);
  if (node.kind === NODE_KIND.turn)
    throw fail('E_PLACEMENT', `${node.id}: only commits make turns`, { id: node.id });
  if (parent.kids === null)
    throw fail('E_PLACEMENT', `${where} is a block and cannot have children`, { id: node.id, parent: where });
  if (parent.kind === NODE_KIND.root || parent.kind === NODE_KIND.seq)
    throw fail('E_PLACEMENT', `${node.id}: only turns may be under ^seq, only regions under ^root`, {
      id: node.id,
      parent: where,
    });
  if (parent.kind !== NODE_KIND.ah) return;
  refuseCoreOffset(node, '^ah');
  // Beside a block at offset 0 there is no container. It is the last child but where blocks come after the core.
  if (node.kind === NODE_KIND.block && isBlockAtCore(parent.kids.at(-1))) return;
  refuseSecondCore(coresOf(parent.kids).map(nodePlacement), node, '^ah');
};

const isBlockAtCore = (kid: TreeNode | undefined): boolean =>
  kid?.kind === NODE_KIND.block && headersOf(kid).offset === 0;

/** The first two children at offset 0. If a core is an `mc`, it is the only core besides the node itself. */
const coresOf = (kids: readonly TreeNode[]): TreeNode[] => {
  const first = lowerBound(0, kids.length, (i) => headersOf(kids[i] as TreeNode).offset < 0);
  return kids.slice(first, first + 2).filter((kid) => headersOf(kid).offset === 0);
};

/** The node if it is open: under `^sys` or `^ah`. @throws E_PLACEMENT, E_SEALED */
const requireOpenNode = (tree: Tree, id: string, what: string): TreeNode => {
  const node = requireNode(tree, id);
  if (node.kind < NODE_KIND.turn)
    throw fail('E_PLACEMENT', `${id} is root or a region and cannot be ${what}`, { id });
  if (regionOf(node) === NODE_KIND.seq)
    throw fail('E_SEALED', `${id} is in a sealed turn and cannot be ${what}`, { id });
  return node;
};

/** The node to replace. @throws E_NODE_NOT_FOUND, E_PLACEMENT, E_SEALED (context-tree §3) */
export const requireReplaceable = (tree: Tree, id: string): TreeNode => requireOpenNode(tree, id, 'replaced');

/**
 * The node to move below `parentId`, both open. @throws E_NODE_NOT_FOUND, E_PLACEMENT, E_SEALED, E_TWO_CORES,
 * E_INPUT_TOO_DEEP
 */
export const requireMovable = (
  tree: Tree,
  id: string,
  parentId: string,
): { readonly node: TreeNode; readonly parent: TreeNode } => {
  const node = requireOpenNode(tree, id, 'moved');
  const parent = requireNode(tree, parentId);
  for (let at: TreeNode | null = parent; at !== null; at = at.parent)
    if (at === node) throw fail('E_PLACEMENT', `${id} cannot be moved into itself`, { id, parent: parentId });
  refuseUnder(parent, nodePlacement(node));
  if (regionOf(parent) === NODE_KIND.seq)
    throw fail('E_SEALED', `${parentId} is sealed: nothing can be moved there`, { id, parent: parentId });
  refuseLevels(levelsAbove(parent) + levelsBelow(node), id);
  return { node, parent };
};

/**
 * The node to remove, and the nodes removed with it, in canonical order. @throws E_NODE_NOT_FOUND, E_PLACEMENT,
 * E_SEALED (context-tree §3, §10.16)
 */
export const requireRemovable = (
  tree: Tree,
  id: string,
): { readonly node: TreeNode; readonly subtree: readonly string[] } => {
  const node = requireNode(tree, id);
  if (node.kind < NODE_KIND.turn)
    throw fail('E_PLACEMENT', `${id} is root or a region and cannot be removed`, { id });
  const attached =
    node.parent?.kind === NODE_KIND.turn && node.kind === NODE_KIND.block && headersOf(node).offset !== 0;
  if (regionOf(node) === NODE_KIND.seq && !attached)
    throw fail(
      'E_SEALED',
      `${id} is in a sealed turn: only blocks directly under it with an offset other than 0 can be removed`,
      { id },
    );
  const subtree: string[] = [];
  eachInSubtree(node, (each) => {
    if (each !== node) subtree.push(idOf(each));
  });
  return { node, subtree };
};

/** True if the node is under `^sys`, where nothing ages. */
export const isInSys = (node: TreeNode): boolean => (node.record as NodeRecord).location.kind === 'sys';
