import { attachRecords } from './attach-records.ts';
import { NO_DEPTH, NODE_KIND, type FlatTree, type TreeParts } from './flat-tree.ts';
import { shownTtl } from './lifetime.ts';
import type { EventRef, FixedName, Headers } from './node.ts';
import { expiresOf, makeTreeNode, type TreeNode } from './tree-node.ts';
import type { Tree } from './tree.ts';

/** The working tree as a flat tree of its current state. */
export const flattenTree = (tree: Tree): FlatTree => layFlat(tree.root, tree.cycle);

/** The flat tree of the records that exist at a position. @throws E_HISTORY_DEFECTIVE when a node has no parent */
export const flattenRecords = (parts: TreeParts): FlatTree => {
  const fixed = (name: FixedName): TreeNode => makeTreeNode(NODE_KIND[name], parts.fixed[name], null);
  const ground = {
    cycle: parts.cycle,
    root: fixed('root'),
    sys: fixed('sys'),
    seq: fixed('seq'),
    ah: fixed('ah'),
  };
  ground.root.kids = [ground.sys, ground.seq, ground.ah];
  attachRecords(ground, parts, (node) => node);
  return layFlat(ground.root, parts.cycle);
};

const layFlat = (root: TreeNode, cycle: number): FlatTree => {
  const nodes: TreeNode[] = [];
  const parents: number[] = [];
  const depths: number[] = [];
  const ends: number[] = [];
  const visit = (node: TreeNode, parent: number, depth: number): void => {
    const at = nodes.length;
    nodes.push(node);
    parents.push(parent);
    depths.push(depth);
    ends.push(0);
    const kids = node.kids ?? [];
    kids.forEach((kid, i) => visit(kid, at, depthBelow(node, depth, kids.length - i)));
    ends[at] = nodes.length;
  };
  visit(root, -1, NO_DEPTH);

  let byId: Map<string, number> | undefined;
  const ids = nodes.map((node) => node.record.headers.id);
  return {
    cycle,
    count: nodes.length,
    ids,
    headers: nodes.map((node): Headers => node.record.headers),
    ttls: nodes.map((node) => shownTtl(node.record.headers.ttl, expiresOf(node), cycle)),
    expires: nodes.map(expiresOf),
    payloads: nodes.map((node): EventRef | null => node.record.payload),
    kinds: Uint8Array.from(nodes, (node) => node.kind),
    parents: Int32Array.from(parents),
    ends: Int32Array.from(ends),
    depths: Int32Array.from(depths),
    sys: 1,
    seq: ends[1] as number,
    ah: ends[ends[1] as number] as number,
    indexOf: (id) => (byId ??= new Map(ids.map((each, i) => [each, i]))).get(id),
  };
};

/** The depth of a child: turns count from the newest, `fromEnd` 1 (context-tree §1). */
const depthBelow = (node: TreeNode, depth: number, fromEnd: number): number => {
  if (node.kind === NODE_KIND.root) return NO_DEPTH;
  if (node.kind === NODE_KIND.sys) return -1;
  if (node.kind === NODE_KIND.ah) return 0;
  return node.kind === NODE_KIND.seq ? fromEnd : depth;
};
