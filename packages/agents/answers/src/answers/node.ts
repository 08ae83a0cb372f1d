import { fail } from '@stemma/errors';
import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';
import { nodeDetailAt } from '../tree-node.ts';

export const node: ContractAnswer<'node'> = async ({ home }, { node, ...input }) => {
  const position = await positionAt(home, input);
  const view = await home.read.nodeView(position, node);
  const index = view?.tree.indexOf(node);
  if (view === undefined || index === undefined)
    throw fail('E_NODE_NOT_FOUND', `${position.label} has no node ${node}`, { id: node });
  return nodeDetailAt(view, index);
};
