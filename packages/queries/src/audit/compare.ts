import { contentHash, diffTrees, NODE_KIND, type EventRef, type Headers } from '@stemma/context-tree';
import type { Line, TreeView } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { readMeeting, type Meeting } from '../meeting.ts';
import { tokenCounter } from '../prompts/tokens.ts';
import { positionOf, viewOf } from '../read.ts';
import { compareCycles } from './compare-cycles.ts';
import { partedBy, sideFrames, type SideFrames } from './compare-frames.ts';
import { countPosition, describeNode, openTokens, type NodeTokens } from './describe-node.ts';
import { findPosition } from './find-position.ts';
import type { ComparedSide, Comparison, Counted } from './types.ts';

const EXCERPT = 2_000;

/**
 * Two positions of a history side by side: where they parted and by whom, and what each has done since (context-tree
 * §5, §7).
 */
export const compareLines = async (
  projector: ServedRows,
  line: Line,
  a: string,
  b: string,
  { excerpt = EXCERPT }: { readonly excerpt?: number } = {},
): Promise<Comparison> => {
  const { history } = line;
  await projector.catchUp();
  const found = await projector.read((rows) => {
    const [atA, atB] = [findPosition(rows, line, a), findPosition(rows, line, b)];
    const meeting = readMeeting(rows, history, atA, atB);
    const stem = positionOf(rows, line, `@s${meeting.stem.seq}`);
    return {
      atA,
      atB,
      stem,
      relation: relationOf(meeting),
      framesA: sideFrames(rows, history, stem.seq, meeting.a),
      framesB: sideFrames(rows, history, stem.seq, meeting.b),
      partedBy: partedBy(rows, history, meeting),
      cycles: compareCycles(rows, stem, atA, atB),
    };
  });
  const stem = await viewOf(projector, found.stem);
  const viewA = await viewOf(projector, found.atA);
  const viewB = await viewOf(projector, found.atB);
  const counter = await tokenCounter();
  const tokens = openTokens((text) => counter.count(text));
  const sideA = sideOf(stem, viewA, found.framesA, tokens, excerpt);
  const sideB = sideOf(stem, viewB, found.framesB, tokens, excerpt);
  return {
    history,
    relation: found.relation,
    stem: countPosition(stem, tokens),
    a: sideA,
    b: sideB,
    partedBy: found.partedBy,
    alike: alike(viewA, sideA, viewB, sideB),
    ...found.cycles,
    encoding: counter.name,
  };
};

const relationOf = ({ a, b }: Meeting): Comparison['relation'] => {
  if (a.first === null) return b.first === null ? 'same' : 'a-before-b';
  return b.first === null ? 'b-before-a' : 'parted';
};

const sideOf = (
  stem: TreeView,
  view: TreeView,
  frames: SideFrames,
  tokens: NodeTokens,
  excerpt: number,
): Counted & ComparedSide => {
  const { added, removed, changed } = diffTrees(stem.tree, view.tree, eitherOf(stem, view));
  const there = (id: string) => describeNode(view, id, tokens, excerpt);
  return {
    ...countPosition(view, tokens),
    ...frames,
    added: added.map(there),
    removed: removed.map((id) => describeNode(stem, id, tokens, excerpt)),
    changed: changed.map(({ id, fields }) => ({ ...there(id), fields })),
  };
};

/** Payloads of two trees: each knows only its own. */
const eitherOf = (a: TreeView, b: TreeView) => {
  const known = new Set(a.tree.payloads.map((ref) => (ref === null ? '' : keyOf(ref))));
  return (ref: EventRef) => (known.has(keyOf(ref)) ? a.payloads(ref) : b.payloads(ref));
};

const keyOf = ({ seq, index }: EventRef): string => `${seq}.${index}`;

/** Blocks that came on both sides with the same content: each of one side with one of the other, in document order. */
const alike = (a: TreeView, sideA: ComparedSide, b: TreeView, sideB: ComparedSide): Comparison['alike'] => {
  const waiting = new Map<string, string[]>();
  for (const [id, hash] of hashed(b, sideB)) waiting.set(hash, [...(waiting.get(hash) ?? []), id]);
  const pairs: { a: string; b: string }[] = [];
  for (const [id, hash] of hashed(a, sideA)) {
    const twin = waiting.get(hash)?.shift();
    if (twin !== undefined) pairs.push({ a: id, b: twin });
  }
  return pairs;
};

const hashed = function* ({ tree, payloads }: TreeView, { added }: ComparedSide): Iterable<[string, string]> {
  for (const { id } of added) {
    const index = tree.indexOf(id) ?? 0;
    const ref = tree.payloads[index] ?? null;
    if (tree.kinds[index] === NODE_KIND.block && ref !== null)
      yield [id, contentHash(tree.headers[index] as Headers, payloads(ref))];
  }
};
