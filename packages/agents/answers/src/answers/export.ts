import { exportTree } from '@stemma/context-tree';
import type { ContractAnswer } from '../answer.ts';
import { viewAt } from '../at.ts';

export const exported: ContractAnswer<'export'> = async ({ home }, at) => {
  const { tree, payloads } = await viewAt(home, at);
  return exportTree(tree, payloads);
};
