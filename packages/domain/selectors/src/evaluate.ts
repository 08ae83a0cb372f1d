import { fail } from '@stemma/errors';
import { collect } from '@stemma/suspend';
import type { AttributeSource } from './attributes.ts';
import { candidates } from './candidates.ts';
import { codeOfNode, indexOfCode, isCore } from './codes.ts';
import { compile, passesAsCore, survives, type Matcher, type Test } from './compile.ts';
import { firstFrom } from './index-ranges.ts';
import { nodeMatches, scopeMatches, zoneMatches, type Matches } from './matches.ts';
import { zoneSign } from './pseudos.ts';
import type { Combinator, Compound, SelectorGroup, SelectorStep } from './syntax.ts';
import type { TreeIndex } from './tree-index.ts';

/** How many tests of nodes one selector may make, which takes a few seconds. A selector that needs more is refused. */
const MAX_WORK = 40_000_000;

/** The state of evaluating one selector on one tree; `work` counts the tests so far. */
export type EvaluationContext = AttributeSource & { readonly index: TreeIndex; work: number };

const NOTHING = new Int32Array(0);

/**
 * The codes of the nodes that a group gives, ascending: compound after compound from left to right, each on what the one before it
 * matched.
 *
 * @throws E_SELECTOR_INVALID when it asks too much; Missing (payloads).
 */
export const matchGroup = (group: SelectorGroup, asking: EvaluationContext): Int32Array => {
  let left: Matches | null = null;
  group.forEach((step, i) => {
    const spend = (tests: number): void => {
      spendWork(asking, tests, step.position);
    };
    left = matchStep(step, left, i === group.length - 1, asking, { ...asking, spend });
  });
  return (left as Matches | null)?.given() ?? NOTHING;
};

const matchStep = (
  { combinator, compound, position }: SelectorStep,
  left: Matches | null,
  last: boolean,
  asking: EvaluationContext,
  source: AttributeSource,
): Matches => {
  const { index } = asking;
  spendWork(asking, 1 + (left?.below.length ?? 0) / 2, position);
  if (compound.kind === 'scope')
    return left === null || left.root ? scopeMatches(compound.depths, index) : nodeMatches(NOTHING, index);
  const sign = zoneOf(compound);
  if (sign !== undefined) {
    const owners = left === null ? index.owners : left.zoneOwners(combinator === 'child');
    spendWork(asking, owners.length, position);
    return zoneMatches(owners, sign, index);
  }
  const matcher = compile(compound, source, index);
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

type StepContext = { readonly asking: EvaluationContext; readonly position: number; readonly last: boolean };

/** What a compound matches under what was matched to its left, before anything is counted: ascending codes. */
const matching = (
  matcher: Matcher,
  left: Matches | null,
  combinator: Combinator,
  { asking, position, last }: StepContext,
): Int32Array => {
  const { index } = asking;
  const child = combinator === 'child' ? left : null;
  // The implicit core is never counted nor given as the last compound (context-tree §10.28).
  const shown = last ? { ...matcher, core: null } : matcher;
  const { codes, holds } = candidates(shown, left, child !== null, index);
  const tests = shown.tests.filter(({ of }) => of === null || of !== holds);
  spendWork(asking, codes.length * (1 + tests.length), position);
  const children = child === null ? codes : childrenAmong(codes, child, index);
  return tests.length === 0 && shown.core === null ? children : passing(children, shown, tests);
};

/** Those of the codes that are children of a match. */
const childrenAmong = (codes: Int32Array, matches: Matches, { tree }: TreeIndex): Int32Array => {
  const { parents } = tree;
  const marks = matches.parentMarks();
  const found = new Int32Array(codes.length);
  let size = 0;
  if (marks === undefined) {
    for (const code of codes) if (matches.parentOf(code) !== -1) found[size++] = code;
    return found.subarray(0, size);
  }
  const { array, mark } = marks;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    const parent = parents[indexOfCode(code)] as number;
    if (parent !== -1 && array[codeOfNode(parent)] === mark) found[size++] = code;
  }
  return found.subarray(0, size);
};

/** Those of the codes that pass all tests. */
const passing = (codes: Int32Array, matcher: Matcher, tests: readonly Test[]): Int32Array => {
  const found = new Int32Array(codes.length);
  let size = 0;
  const passes = (code: number): boolean => {
    if (isCore(code)) return passesAsCore(matcher, code);
    for (const { holds } of tests) if (!holds(code)) return false;
    return true;
  };
  return collect((attempt) => {
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i] as number;
      if (attempt(passes, code, false)) found[size++] = code;
    }
    return found.subarray(0, size);
  });
};

/** One of the matches under each match to the left, and of these what the pseudos behind it leave. */
const counted = (
  matcher: Matcher,
  pick: NonNullable<Matcher['pick']>,
  found: Int32Array,
  left: Matches | null,
  combinator: Combinator,
): Int32Array => {
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
    for (let i = 0; i < left.below.length; i += 2) {
      const first = firstFrom(found, left.below[i] as number);
      const count = firstFrom(found, left.below[i + 1] as number) - first;
      const at = pick(count);
      if (at >= 0 && at < count) take(found[first + at]);
    }
  return Int32Array.from(picked).sort((a, b) => a - b);
};

const spendWork = (asking: EvaluationContext, work: number, position: number): void => {
  asking.work += work;
  if (asking.work > MAX_WORK)
    throw fail(
      'E_SELECTOR_INVALID',
      `at character ${position + 1}: the selector needs more than ${MAX_WORK} checks on ${asking.tree.count} nodes: use a narrower selector`,
      { at: position },
    );
};
