import { excerptOf, positionAnswer, type RemovedNode, type TreePage } from '@stemma/api';
import { NODE_KIND, threadIndexes, type TreeDiff } from '@stemma/context-tree';
import type { Position, TreeAt, TreeView } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { positionDiffs, type PositionDiff } from './position-diff.ts';
import { findPreviousSnapshot } from './positions.ts';
import { withContents, type TreeCache } from './tree-cache.ts';
import { treeNodeAt } from './tree-node.ts';

const MAX_NODES = 20_000;
const MAX_REMOVED = 1_000;

/** Which part of a tree is asked for. */
export type TreeWindow = {
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly tail?: number | undefined;
  readonly excerpt?: number | undefined;
};

/** The tree at a position, or a part of it, against the snapshot before it. */
export const treePage = async (
  home: Home,
  trees: TreeCache,
  position: Position,
  window: TreeWindow,
): Promise<TreePage> => {
  const { history } = position;
  const at = await trees(position);
  const previous = await findPreviousSnapshot(home, position);
  const before = previous === null ? null : await trees(previous);
  const diff = before === null ? null : await home.read.diffTrees(before, at);
  const causes =
    before === null || diff === null || diff.removed.length === 0
      ? new Map<string, never>()
      : await removalCauses(home, before, at);
  return withContents(home, history, (payloads) =>
    pageOf({ ...at, payloads }, before === null ? null : { ...before, payloads }, { diff, causes }, window),
  );
};

/** What is other than in the snapshot before, and why nodes left it; null: there is none. */
type Changes = { readonly diff: TreeDiff | null; readonly causes: PositionDiff['removed'] };

const pageOf = (
  view: TreeView,
  before: TreeView | null,
  { diff, causes }: Changes,
  window: TreeWindow,
): TreePage => {
  const { tree, position } = view;
  const excerpt = Math.min(window.excerpt ?? 2_000, 100_000);
  const added = new Set(diff?.added);
  const changed = new Map(diff?.changed.map(({ id, fields }) => [id, [...fields]]));
  const inThread = openInThread(view);
  return {
    position: positionAnswer(position),
    previous: before === null ? null : positionAnswer(before.position),
    mode: view.thread,
    total: tree.count,
    added: diff === null ? tree.count : diff.added.length,
    nodes: indicesOf(tree.count, window).map((i) => {
      const node = treeNodeAt(view, i, excerpt, inThread(i));
      return { ...node, new: diff === null || added.has(node.id), changed: changed.get(node.id) ?? [] };
    }),
    removed:
      before === null || diff === null
        ? []
        : diff.removed
            .slice(0, MAX_REMOVED)
            .map((id) => ({ ...removedNode(before, id, excerpt), cause: causes.get(id) ?? null })),
    removedTotal: diff?.removed.length ?? 0,
  };
};

/** Whether the provider thread shows a node: every block, or with `pre` few of them. */
const openInThread = ({ tree, thread }: TreeView): ((index: number) => boolean) => {
  if (thread === 'full') return (index) => tree.kinds[index] === NODE_KIND.block;
  const shown = new Set(threadIndexes(tree, thread));
  return (index) => shown.has(index);
};

/** Why nodes left, from the events between. */
const removalCauses = async (
  home: Home,
  before: TreeAt,
  { position }: TreeAt,
): Promise<PositionDiff['removed']> => {
  const summary = await home.read.history(position.history);
  const [positionDiff] = await positionDiffs(home, summary, position.branchId, [
    before.position.seq,
    position.seq,
  ]);
  return positionDiff?.removed ?? new Map();
};

/** From `skip` on `limit` nodes, and `tail` at the end; each once, in document order. */
const indicesOf = (total: number, { skip = 0, limit = 2_000, tail = 0 }: TreeWindow): readonly number[] => {
  const end = Math.min(total, skip + Math.min(limit, MAX_NODES));
  const indices: number[] = [];
  for (let i = skip; i < end; i++) indices.push(i);
  for (let i = Math.max(end, total - Math.min(tail, MAX_NODES)); i < total; i++) indices.push(i);
  return indices;
};

const removedNode = (
  { tree, payloads }: TreeView,
  id: string,
  excerpt: number,
): Omit<RemovedNode, 'cause'> => {
  const i = tree.indexOf(id) ?? -1;
  const headers = tree.headers[i];
  const ref = tree.payloads[i];
  return {
    id,
    nodeType: headers?.nodeType ?? '',
    role: headers?.role ?? null,
    kind: headers?.kind ?? null,
    cycle: headers?.cycle ?? 0,
    content: tree.kinds[i] === NODE_KIND.block && ref ? excerptOf(payloads(ref)['content'], excerpt) : null,
  };
};
