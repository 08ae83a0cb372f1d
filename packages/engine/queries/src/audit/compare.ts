import { diffTrees, type EventRef } from '@stemma/context-tree';
import type { BranchRef, Segment, SnapshotRow, TreeView } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { catchUpWith } from '../catch-up-with.ts';
import { tokenCounter } from '@stemma/read-models';
import { diffRequestsUpTo } from '../calls/request-facts.ts';
import { viewOf } from '../read.ts';
import { nodesAlike } from './alike.ts';
import { compareCycles } from './compare-cycles.ts';
import type { SideFrames } from './compare-frames.ts';
import { compareThreads, type ThreadSide } from './compare-threads.ts';
import { countPosition, describeNode, openTokenCounts, type NodeTokens } from './describe-node.ts';
import { catchUpWithOther, findAnyPosition } from './find-position.ts';
import { sidesOf } from './sides.ts';
import type { ComparedSide, Comparison, CountedPosition } from './types.ts';

const EXCERPT = 2_000;

/**
 * Two positions side by side, of one history or of two: where they diverged, by whom, what each has done since, and what differs
 * in what the model is shown (context-tree §5, §7).
 */
export const compareBranches = async (
  projection: Projection,
  branchRef: BranchRef,
  a: string,
  b: string,
  { excerpt = EXCERPT }: { readonly excerpt?: number } = {},
): Promise<Comparison> => {
  await catchUpWith(projection, branchRef.history);
  for (const text of [a, b]) await catchUpWithOther(projection, branchRef, text);
  const found = await projection.read((rows) => {
    const [atA, atB] = [findAnyPosition(rows, branchRef, a), findAnyPosition(rows, branchRef, b)];
    return { atA, atB, ...sidesOf(rows, atA, atB) };
  });
  const { atA, atB } = found;
  const mergeBase = found.mergeBase === null ? null : await viewOf(projection, found.mergeBase);
  const viewA = await viewOf(projection, atA);
  const viewB = await viewOf(projection, atB);
  const counter = await tokenCounter();
  const tokens = openTokenCounts((text) => counter.count(text));
  const { since, ...cycles } = await compareCycles(projection, found.snapshots, atA, atB);
  const threadSide = (
    view: TreeView,
    path: readonly Segment[],
    first: SnapshotRow | undefined,
  ): ThreadSide => ({
    view,
    path,
    after: found.mergeBase?.seq ?? -1,
    since: first ?? null,
    describe: (id) => describeNode(view, id, tokens, excerpt),
  });
  const { threads, pairs } = await compareThreads(
    projection,
    threadSide(viewA, found.pathA, since?.a),
    threadSide(viewB, found.pathB, since?.b),
  );
  const sideA = sideOf(mergeBase, viewA, found.framesA, tokens, excerpt);
  const sideB = sideOf(mergeBase, viewB, found.framesB, tokens, excerpt);
  const pairsAlike = nodesAlike(viewA, sideA, viewB, sideB, pairs);
  return {
    history: atA.history,
    relation: found.relation,
    mergeBase: mergeBase && countPosition(mergeBase, tokens),
    a: mergeBase === null ? without(sideA, new Set(pairsAlike.map((pair) => pair.a))) : sideA,
    b: mergeBase === null ? without(sideB, new Set(pairsAlike.map((pair) => pair.b))) : sideB,
    divergedBy: found.divergedBy,
    alike: pairsAlike,
    threads,
    request: (await diffRequestsUpTo(projection, atA, atB)) ?? null,
    ...cycles,
    encoding: counter.name,
  };
};

type Side = CountedPosition & ComparedSide;

const sideOf = (
  mergeBase: TreeView | null,
  view: TreeView,
  frames: SideFrames,
  tokens: NodeTokens,
  excerpt: number,
): Side => {
  const describe = (id: string) => describeNode(view, id, tokens, excerpt);
  const counted = { ...countPosition(view, tokens), ...frames };
  if (mergeBase === null) return { ...counted, added: nodesOf(view).map(describe), removed: [], changed: [] };
  const { added, removed, changed } = diffTrees(mergeBase.tree, view.tree, payloadsOfEither(mergeBase, view));
  return {
    ...counted,
    added: added.map(describe),
    removed: removed.map((id) => describeNode(mergeBase, id, tokens, excerpt)),
    changed: changed.map(({ id, fields }) => ({ ...describe(id), fields })),
  };
};

/** All nodes that a recorder or an actor made, in document order: not the frame of the tree, which every history has. */
const nodesOf = ({ tree }: TreeView): readonly string[] =>
  tree.ids.filter((_id, i) => tree.headers[i]?.nodeType.startsWith('^') === false);

const without = (side: Side, ids: ReadonlySet<string>): Side => ({
  ...side,
  added: side.added.filter(({ id }) => !ids.has(id)),
});

/** The payloads of two trees: the source of each has only its own. */
const payloadsOfEither = (a: TreeView, b: TreeView) => {
  const known = new Set(a.tree.payloads.map((ref) => (ref === null ? '' : keyOf(ref))));
  return (ref: EventRef) => (known.has(keyOf(ref)) ? a.payloads(ref) : b.payloads(ref));
};

const keyOf = ({ seq, index }: EventRef): string => `${seq}.${index}`;
