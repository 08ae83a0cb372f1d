import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';
import { treePage } from '../tree-page.ts';

export const tree: ContractAnswer<'tree'> = async ({ home, trees }, input) =>
  treePage(home, trees, await positionAt(home, input), input);
