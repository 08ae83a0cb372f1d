import { NODE_KIND, type TreeParts } from './flat-tree.ts';
import type { NodeRecord, TurnRecord } from './node.ts';
import { eachInSubtree } from './tree-node.ts';
import type { Tree } from './tree.ts';

/** The records of a tree now: a copy that later changes do not affect. */
export const recordsOf = (
  tree: Tree,
): TreeParts & { readonly turns: readonly TurnRecord[]; readonly nodes: readonly NodeRecord[] } => {
  const nodes: NodeRecord[] = [];
  eachInSubtree(tree.root, (node) => {
    if (node.kind > NODE_KIND.turn) nodes.push(node.record as NodeRecord);
  });
  return {
    cycle: tree.cycle,
    fixed: {
      root: tree.root.record,
      sys: tree.sys.record,
      seq: tree.seq.record,
      ah: tree.ah.record,
    },
    turns: tree.turns.map((turn) => turn.record as TurnRecord),
    nodes,
  };
};
