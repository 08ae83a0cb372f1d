import { depthBounds, turnsMeant } from './depths.ts';
import { isCounting } from './pseudos.ts';
import type { Compound, Selector, SelectorGroup } from './syntax.ts';

/**
 * The part of a tree that can affect a selector's result: all of it, or the nodes at depths from `minDepth` to
 * `maxDepth` (with root and regions) and all nodes in the same turn or region as one of `ids`.
 */
export type Footprint =
  'whole' | { readonly minDepth: number; readonly maxDepth: number; readonly ids: readonly string[] };

/** Depths of nodes reach from the system header to the oldest turn. */
const MIN_DEPTH = -1;
const WHOLE = { minDepth: MIN_DEPTH, maxDepth: Infinity, ids: [] } as const;
const NOTHING = { minDepth: Infinity, maxDepth: -Infinity, ids: [] } as const;

/**
 * The part of a tree that must be loaded for a selector: with it alone the result is the same. Depth counts from the
 * newest turn, so the part is complete from there.
 */
export const footprintOf = ({ groups }: Selector): Footprint => {
  let sum: Exclude<Footprint, 'whole'> = NOTHING;
  for (const group of groups) {
    const { minDepth, maxDepth, ids } = partOf(group);
    if (minDepth <= MIN_DEPTH && maxDepth === Infinity) return 'whole';
    sum = {
      minDepth: Math.min(sum.minDepth, minDepth),
      maxDepth: Math.max(sum.maxDepth, maxDepth),
      ids: [...sum.ids, ...ids],
    };
  }
  return sum;
};

const partOf = (group: SelectorGroup): Exclude<Footprint, 'whole'> => {
  const named = group.map(({ compound }) => idOf(compound)).find((id) => id !== null);
  if (named !== undefined && isLocalGroup(group)) return { ...NOTHING, ids: [named] };
  // What is below a node says whether it matches, and a root has everything below it.
  if (group.some(({ compound }) => containsBelow(compound))) return WHOLE;
  let [minDepth, maxDepth] = [MIN_DEPTH, Infinity];
  for (const [i, { compound }] of group.entries()) {
    const last = i === group.length - 1;
    for (const window of windowsOf(compound, last)) {
      minDepth = Math.max(minDepth, window.minDepth);
      maxDepth = Math.min(maxDepth, window.maxDepth);
    }
    // What is counted is counted among everything that the compounds so far can match.
    if (compound.kind === 'node' && compound.pseudos.some(isCounting)) break;
  }
  return { minDepth, maxDepth, ids: [] };
};

const ROOTS = {
  '^root': { minDepth: MIN_DEPTH, maxDepth: Infinity },
  '^sys': { minDepth: -1, maxDepth: -1 },
  '^seq': { minDepth: 1, maxDepth: Infinity },
  '^ah': { minDepth: 0, maxDepth: 0 },
} as const;

/** Depths outside of which nothing matters that a compound, or what stands to its right, can match. */
const windowsOf = (compound: Compound, last: boolean): readonly { minDepth: number; maxDepth: number }[] => {
  if (compound.kind === 'any') return [];
  if (compound.kind === 'scope') return [depthBounds(compound.depths)];
  const { root, pseudos } = compound;
  const counts = pseudos.findIndex(isCounting);
  const before = counts === -1 ? pseudos : pseudos.slice(0, counts);
  return [
    ...(root === null ? [] : [last ? NOTHING : ROOTS[root]]),
    ...before.flatMap((pseudo) => (pseudo.name === 'depth' ? [depthBounds(pseudo.depths)] : [])),
  ];
};

const containsBelow = (compound: Compound): boolean =>
  compound.kind === 'node' && compound.pseudos.some(({ name }) => name === 'contains');

const idOf = (compound: Compound): string | null => {
  if (compound.kind !== 'node') return null;
  const named = compound.attributes.find(
    ({ key, op, value }) => key === 'id' && op === '=' && typeof value === 'string',
  );
  return compound.id ?? (named?.value as string | undefined) ?? null;
};

/**
 * True if only a node and its ancestors decide whether it is selected: no counting, nothing of what is below it, no age, and of depth only whether
 * it is the system header, the head or a turn. The result of such a selector changes between two snapshots only where a
 * node or one of its ancestors has changed.
 */
export const isLocal = ({ groups }: Selector): boolean => groups.every(isLocalGroup);

const isLocalGroup = (group: SelectorGroup): boolean =>
  group.every(({ compound }) => {
    if (compound.kind === 'any') return true;
    if (containsBelow(compound)) return false;
    if (compound.kind === 'scope') return turnsMeant(compound.depths) !== 'some';
    return (
      compound.attributes.every(({ key }) => key !== 'age' && key !== 'depth') &&
      compound.pseudos.every(
        (pseudo) => !isCounting(pseudo) && (pseudo.name !== 'depth' || turnsMeant(pseudo.depths) !== 'some'),
      )
    );
  });
