import type { BranchNodeAnswer } from '@stemma/api';

/** The branches of an arm in an address: ids, separated by commas. */
export const idsIn = (list: string | null): readonly number[] =>
  (list ?? '').split(',').flatMap((one) => (/^\d{1,9}$/.test(one) ? [Number(one)] : []));

/** The newest round that both branches have; null: they part before the first, or are of two trees. */
export const partedAt = (branches: readonly BranchNodeAnswer[], a: number, b: number): number | null => {
  const known = new Map(branches.map((one) => [one.branchId, one]));
  /** Each branch on the way up, and the newest cycle of it that belongs to the way; infinite for the branch itself. */
  const wayOf = (from: number): ReadonlyMap<number, number> => {
    const way = new Map<number, number>();
    let limit = Infinity;
    for (let at = known.get(from); at !== undefined && !way.has(at.branchId);) {
      way.set(at.branchId, limit);
      limit = Math.min(limit, at.parent?.cycle ?? 0);
      at = at.parent === null ? undefined : known.get(at.parent.branchId);
    }
    return way;
  };
  const ofB = wayOf(b);
  for (const [branchId, limit] of wayOf(a)) {
    const other = ofB.get(branchId);
    if (other === undefined) continue;
    const cycle = Math.min(limit, other, known.get(branchId)?.cycle ?? 0);
    return cycle > 0 ? cycle : null;
  }
  return null;
};
