import { attachRecords } from './attach-records.ts';
import { NO_DEPTH, NODE_KIND, type FlatTree, type TreeParts } from './flat-tree.ts';
import { shownTtl } from './lifetime.ts';
import type { EventRef, FixedName, Headers } from './node.ts';
import { expiresOf, makeTreeNode, type TreeNode } from './tree-node.ts';
import type { Tree } from './tree.ts';

/** The working tree as a flat tree of its current state. */
export const flattenTree = (tree: Tree): FlatTree => layFlat(tree.root, tree.cycle);

/**
 * The flat tree of the records that exist at a position. `turnsAfter`: so many turns that are not among the parts follow those that
 * are, and count for depths.
 *
 * @throws E_HISTORY_DEFECTIVE when a node has no parent
 */
export const flattenRecords = (parts: TreeParts, turnsAfter = 0): FlatTree => {
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
  return layFlat(ground.root, parts.cycle, turnsAfter);
};

const layFlat = (root: TreeNode, cycle: number, turnsAfter = 0): FlatTree => {
  const ids: string[] = [];
  const headers: Headers[] = [];
  const ttls: (number | null)[] = [];
  const expires: (number | null)[] = [];
  const payloads: (EventRef | null)[] = [];
  const kinds: number[] = [];
  const parents: number[] = [];
  const depths: number[] = [];
  const ends: number[] = [];
  const visit = (node: TreeNode, parent: number, depth: number): void => {
    const at = ids.length;
    const { record, kids } = node;
    const expiry = expiresOf(node);
    ids.push(record.headers.id);
    headers.push(record.headers);
    ttls.push(shownTtl(record.headers.ttl, expiry, cycle));
    expires.push(expiry);
    payloads.push(record.payload);
    kinds.push(node.kind);
    parents.push(parent);
    depths.push(depth);
    ends.push(at + 1);
    if (kids === null) return;
    for (let i = 0; i < kids.length; i++)
      visit(kids[i] as TreeNode, at, depthBelow(node, depth, kids.length - i + turnsAfter));
    ends[at] = ids.length;
  };
  visit(root, -1, NO_DEPTH);

  let byId: Map<string, number> | undefined;
  return {
    cycle,
    count: ids.length,
    ids,
    headers,
    ttls,
    expires,
    payloads,
    kinds: Uint8Array.from(kinds),
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
