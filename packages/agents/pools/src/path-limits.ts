import { branchRefOf, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';

/** Up to which frame each branch counts on the path that leads to a position; the others do not. */
export const pathLimits = async (
  home: Pick<Home, 'branches'>,
  { history, branchId, seq, label }: Position,
): Promise<ReadonlyMap<number, number>> => {
  const path = await home.branches.ancestors(branchRefOf(history, branchId), label);
  return new Map(path.map((node, i) => [node.branchId, path[i + 1]?.parent?.seq ?? seq]));
};
