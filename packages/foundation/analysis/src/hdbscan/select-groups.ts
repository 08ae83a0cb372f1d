import type { CondensedTree } from './condensed-tree.ts';

/**
 * The groups with the largest sum of stabilities of which none lies in another (excess of mass: Campello et al. 2013, section 5). A group
 * is preferred to those inside it if they have no more together.
 */
export const selectGroups = (
  { parents, stabilities }: CondensedTree,
  allowSingleCluster: boolean,
): readonly number[] => {
  const best = [...stabilities];
  const inside = new Float64Array(parents.length);
  const isPreferred: boolean[] = [];
  for (let group = parents.length - 1; group >= 0; group--) {
    const isRoot = group === 0;
    isPreferred[group] = (!isRoot || allowSingleCluster) && inside[group]! <= stabilities[group]!;
    if (!isPreferred[group]) best[group] = inside[group]!;
    if (!isRoot) inside[parents[group]!]! += best[group]!;
  }
  const isWithin: boolean[] = [];
  return parents.flatMap((parent, group) => {
    const isCovered = parent >= 0 && isWithin[parent] === true;
    isWithin[group] = isCovered || isPreferred[group] === true;
    return isPreferred[group] === true && !isCovered ? [group] : [];
  });
};
