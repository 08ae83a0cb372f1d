import { fail } from '@stemma/errors';
import { NODE_KIND, type TreeParts } from './flat-tree.ts';
import { kindOfType } from './node-type.ts';
import type { NodeLocation, NodeRecord } from './node.ts';
import { compareSiblings } from './order.ts';
import { makeTreeNode, type TreeNode } from './tree-node.ts';

const keyOf = (location: NodeLocation): string =>
  location.kind === 'sys' ? 'sys' : `${location.cycle}/${location.ordinal}`;

/** The root and regions of a tree that is being built. */
export type RegionNodes = {
  readonly cycle: number;
  readonly sys: TreeNode;
  readonly seq: TreeNode;
  readonly ah: TreeNode;
};

/**
 * Attaches records, given in any order, below the regions: sorted once instead of inserted one by one.
 *
 * @throws E_HISTORY_DEFECTIVE when a node's location or parent is not among them.
 */
export const attachRecords = (
  regions: RegionNodes,
  parts: TreeParts,
  add: (node: TreeNode) => TreeNode,
): void => {
  const nodesByLocation = new Map<string, TreeNode>([['sys', regions.sys]]);
  for (const record of parts.turns) {
    const turn = add(makeTreeNode(NODE_KIND.turn, record, regions.seq));
    nodesByLocation.set(keyOf(record.location), turn);
    regions.seq.kids?.push(turn);
  }
  const head = keyOf({ kind: 'turn', cycle: regions.cycle + 1, ordinal: 0 });
  if (!nodesByLocation.has(head)) nodesByLocation.set(head, regions.ah);

  // The nodes of a location usually follow one another, and share its object.
  let last: NodeLocation | undefined;
  let lastNode: TreeNode | undefined;
  const nodeAt = (location: NodeLocation): TreeNode | undefined => {
    if (location !== last) {
      last = location;
      lastNode = nodesByLocation.get(keyOf(location));
    }
    return lastNode;
  };
  for (const node of plant(parts.nodes, nodeAt)) add(node);
  for (const top of [regions.sys, regions.seq, regions.ah]) sortBelow(top);
};

/** The nodes of a turn below it, in canonical order. @throws E_HISTORY_DEFECTIVE when a node's parent is not among them */
export const attachBelow = (turn: TreeNode, records: Iterable<NodeRecord>): readonly TreeNode[] => {
  const planted = [...plant(records, () => turn)];
  sortBelow(turn);
  return planted;
};

/** The nodes of records, each linked with its container or else with the node at its location. */
const plant = (
  records: Iterable<NodeRecord>,
  nodeAt: (location: NodeLocation) => TreeNode | undefined,
): Iterable<TreeNode> => {
  const planted = new Map<string, TreeNode>();
  for (const record of records) {
    const { id, nodeType } = record.headers;
    if (planted.has(id)) throw fail('E_HISTORY_DEFECTIVE', `the id ${id} is there already`);
    planted.set(id, makeTreeNode(kindOfType(nodeType), record, null));
  }
  for (const node of planted.values()) {
    const { parent: id, location } = node.record as NodeRecord;
    const parent = id === null ? nodeAt(location) : planted.get(id);
    if (parent?.kids == null) throw fail('E_HISTORY_DEFECTIVE', `${node.record.headers.id} has no parent`);
    node.parent = parent;
    parent.kids.push(node);
  }
  return planted.values();
};

const sortBelow = (node: TreeNode): void => {
  if (node.kids === null) return;
  const kids = node.kids;
  let sorted = true;
  for (let i = 1; i < kids.length && sorted; i++)
    sorted =
      compareSiblings((kids[i - 1] as TreeNode).record.headers, (kids[i] as TreeNode).record.headers) < 0;
  if (!sorted) kids.sort((a, b) => compareSiblings(a.record.headers, b.record.headers));
  for (const kid of kids) sortBelow(kid);
};
