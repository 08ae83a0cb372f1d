import { contentHash, diffTrees, NODE_KIND, type EventRef, type Headers } from '@stemma/context-tree';
import type { BranchRef, TreeView } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { findMergeBase, type MergeBase } from '../merge-base.ts';
import { tokenCounter } from '../prompts/tokens.ts';
import { positionOf, viewOf } from '../read.ts';
import { compareCycles } from './compare-cycles.ts';
import { countSideFrames, divergedBy, type SideFrames } from './compare-frames.ts';
import { countPosition, describeNode, openTokenCounts, type NodeTokens } from './describe-node.ts';
import { findPosition } from './find-position.ts';
import type { ComparedSide, Comparison, CountedPosition } from './types.ts';
import { catchUpWith } from '../catch-up-with.ts';

const EXCERPT = 2_000;

/**
 * Two positions of a history side by side: where they diverged, by whom, and what each has done since
 * (context-tree §5, §7).
 */
export const compareBranches = async (
  projection: Projection,
  branchRef: BranchRef,
  a: string,
  b: string,
  { excerpt = EXCERPT }: { readonly excerpt?: number } = {},
): Promise<Comparison> => {
  const { history } = branchRef;
  await catchUpWith(projection, history);
  const found = await projection.read((rows) => {
    const [atA, atB] = [findPosition(rows, branchRef, a), findPosition(rows, branchRef, b)];
    const divergence = findMergeBase(rows, history, atA, atB);
    const mergeBase = positionOf(rows, branchRef, `@s${divergence.mergeBase.seq}`);
    return {
      atA,
      atB,
      mergeBase,
      relation: relationOf(divergence),
      framesA: countSideFrames(rows, history, mergeBase.seq, divergence.a),
      framesB: countSideFrames(rows, history, mergeBase.seq, divergence.b),
      divergedBy: divergedBy(rows, history, divergence),
      cycles: compareCycles(rows, mergeBase, atA, atB),
    };
  });
  const mergeBase = await viewOf(projection, found.mergeBase);
  const viewA = await viewOf(projection, found.atA);
  const viewB = await viewOf(projection, found.atB);
  const counter = await tokenCounter();
  const tokens = openTokenCounts((text) => counter.count(text));
  const sideA = sideOf(mergeBase, viewA, found.framesA, tokens, excerpt);
  const sideB = sideOf(mergeBase, viewB, found.framesB, tokens, excerpt);
  return {
    history,
    relation: found.relation,
    mergeBase: countPosition(mergeBase, tokens),
    a: sideA,
    b: sideB,
    divergedBy: found.divergedBy,
    alike: alike(viewA, sideA, viewB, sideB),
    ...found.cycles,
    encoding: counter.name,
  };
};

const relationOf = ({ a, b }: MergeBase): Comparison['relation'] => {
  if (a.first === null) return b.first === null ? 'same' : 'a-before-b';
  return b.first === null ? 'b-before-a' : 'diverged';
};

const sideOf = (
  mergeBase: TreeView,
  view: TreeView,
  frames: SideFrames,
  tokens: NodeTokens,
  excerpt: number,
): CountedPosition & ComparedSide => {
  const { added, removed, changed } = diffTrees(mergeBase.tree, view.tree, payloadsOfEither(mergeBase, view));
  const describe = (id: string) => describeNode(view, id, tokens, excerpt);
  return {
    ...countPosition(view, tokens),
    ...frames,
    added: added.map(describe),
    removed: removed.map((id) => describeNode(mergeBase, id, tokens, excerpt)),
    changed: changed.map(({ id, fields }) => ({ ...describe(id), fields })),
  };
};

/** The payloads of two trees: the source of each has only its own. */
const payloadsOfEither = (a: TreeView, b: TreeView) => {
  const known = new Set(a.tree.payloads.map((ref) => (ref === null ? '' : keyOf(ref))));
  return (ref: EventRef) => (known.has(keyOf(ref)) ? a.payloads(ref) : b.payloads(ref));
};

const keyOf = ({ seq, index }: EventRef): string => `${seq}.${index}`;

/** Blocks inserted on both sides with the same content, in pairs of one from each side, in document order. */
const alike = (a: TreeView, sideA: ComparedSide, b: TreeView, sideB: ComparedSide): Comparison['alike'] => {
  const unpaired = new Map<string, string[]>();
  for (const [id, hash] of contentHashes(b, sideB)) unpaired.set(hash, [...(unpaired.get(hash) ?? []), id]);
  const pairs: { a: string; b: string }[] = [];
  for (const [id, hash] of contentHashes(a, sideA)) {
    const twin = unpaired.get(hash)?.shift();
    if (twin !== undefined) pairs.push({ a: id, b: twin });
  }
  return pairs;
};

const contentHashes = function* (
  { tree, payloads }: TreeView,
  { added }: ComparedSide,
): Iterable<[string, string]> {
  for (const { id } of added) {
    const index = tree.indexOf(id) ?? 0;
    const ref = tree.payloads[index] ?? null;
    if (tree.kinds[index] === NODE_KIND.block && ref !== null)
      yield [id, contentHash(tree.headers[index] as Headers, payloads(ref))];
  }
};
