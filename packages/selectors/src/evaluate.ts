import { PayloadNeeded, type EventRef } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Asked } from './attributes.ts';
import { candidates } from './candidates.ts';
import { compile, passes, survives, type Matcher } from './compile.ts';
import { lowerBound, nodeMatches, scopeMatches, zoneMatches, type Matches } from './matches.ts';
import { zoneSign } from './pseudos.ts';
import type { TreeIndex } from './tree-index.ts';
import type { Combinator, Compound, Group, Step } from './syntax.ts';

/** Questions that one selector may ask of nodes, a few seconds' worth: what hostile ones ask beyond is refused. */
const MAX_WORK = 40_000_000;

/** One selector at work on one tree. */
export type Asking = Asked & { readonly index: TreeIndex; work: number };

/**
 * The nodes that a group gives, ascending: compound after compound from left to right, each on what the one before it
 * matched.
 *
 * @throws E_SELECTOR_INVALID when it asks too much; PayloadNeeded.
 */
export const matchGroup = (group: Group, asking: Asking): readonly number[] => {
  let left: Matches | null = null;
  group.forEach((step, i) => {
    left = matchStep(step, left, i === group.length - 1, asking);
  });
  return (left as Matches | null)?.given() ?? [];
};

const matchStep = (
  { combinator, compound, position }: Step,
  left: Matches | null,
  last: boolean,
  asking: Asking,
): Matches => {
  const { index } = asking;
  spend(asking, 1 + (left?.below.length ?? 0), position);
  if (compound.kind === 'scope')
    return left === null || left.root ? scopeMatches(compound.depths, index) : nodeMatches([], index);
  const sign = zoneOf(compound);
  if (sign !== undefined) {
    const owners = left === null ? index.owners : left.zoneOwners(combinator === 'child');
    spend(asking, owners.length, position);
    return zoneMatches(owners, sign, index);
  }
  const matcher = compile(compound, asking, index);
  const found = matching(matcher, left, combinator, { asking, position, last });
  const codes = matcher.pick === null ? found : counted(matcher, matcher.pick, found, left, combinator);
  return nodeMatches(codes, index);
};

/** The sign of a compound that is a zone and no node: one pseudo and nothing else (context-tree §6). */
const zoneOf = (compound: Compound): number | undefined => {
  if (compound.kind !== 'node' || compound.pseudos.length !== 1) return undefined;
  const { root, id, type, attributes, pseudos } = compound;
  const bare = root === null && id === null && type === null && attributes.length === 0;
  return bare && pseudos[0] !== undefined ? zoneSign(pseudos[0]) : undefined;
};

type At = { readonly asking: Asking; readonly position: number; readonly last: boolean };

/** What a compound matches under what was matched to its left, before anything is counted: ascending codes. */
const matching = (
  matcher: Matcher,
  left: Matches | null,
  combinator: Combinator,
  { asking, position, last }: At,
): readonly number[] => {
  const { index } = asking;
  const child = combinator === 'child' ? left : null;
  // The implicit core is never counted nor given as the last compound (context-tree §10.28).
  const shown = last ? { ...matcher, core: null } : matcher;
  const codes = candidates(shown, left, child !== null, index);
  spend(asking, codes.length * (1 + matcher.tests.length), position);
  const needed: EventRef[] = [];
  const found: number[] = [];
  for (const code of codes) {
    if (child !== null && child.parentOf(code) === -1) continue;
    try {
      if (passes(shown, index, code)) found.push(code);
    } catch (error) {
      if (!(error instanceof PayloadNeeded)) throw error;
      needed.push(...error.refs);
    }
  }
  // All that is missing is asked for at once, not one by one.
  if (needed.length > 0) throw new PayloadNeeded(needed);
  return found;
};

/** One of the matches under each match to the left, and of these what the pseudos behind it leave. */
const counted = (
  matcher: Matcher,
  pick: NonNullable<Matcher['pick']>,
  found: readonly number[],
  left: Matches | null,
  combinator: Combinator,
): readonly number[] => {
  const picked = new Set<number>();
  const take = (code: number | undefined): void => {
    if (code !== undefined && survives(matcher, code)) picked.add(code);
  };
  if (left === null) take(found[pick(found.length)]);
  else if (combinator === 'child') {
    const families = new Map<number, number[]>();
    for (const code of found) {
      const parent = left.parentOf(code);
      const family = families.get(parent);
      if (family === undefined) families.set(parent, [code]);
      else family.push(code);
    }
    for (const family of families.values()) take(family[pick(family.length)]);
  } else if (left.one) take(found[pick(found.length)]);
  else
    for (const [from, to] of left.below) {
      const first = lowerBound(found, from);
      const count = lowerBound(found, to) - first;
      const at = pick(count);
      if (at >= 0 && at < count) take(found[first + at]);
    }
  return [...picked].sort((a, b) => a - b);
};

const spend = (asking: Asking, work: number, position: number): void => {
  asking.work += work;
  if (asking.work > MAX_WORK)
    throw fail(
      'E_SELECTOR_INVALID',
      `at character ${position + 1}: the selector asks more than ${MAX_WORK} questions of ${asking.tree.count} nodes; ask for less at once`,
      { at: position },
    );
};
