import type { LeftNode, TreePage } from '@stemma/api';
import { NODE_KIND, threadIndexes } from '@stemma/context-tree';
import type { DiffResult, Home, Position, TreeView } from '@stemma/home';
import { lineOf, positionAnswer, previousOf } from './lines.ts';
import { passages } from './passage.ts';
import { excerptOf } from './excerpt.ts';
import { treeNodeAt } from './tree-node.ts';

const MOST_NODES = 20_000;
const MOST_LEFT = 1_000;

/** Which part of a tree is asked for. */
export type TreeWindow = {
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly tail?: number | undefined;
  readonly excerpt?: number | undefined;
};

/** The tree at a position, or a part of it, against the snapshot before it. */
export const treePage = async (home: Home, position: Position, window: TreeWindow): Promise<TreePage> => {
  const view = await home.view(position);
  const previous = await previousOf(home, position);
  const diff = previous === null ? null : await home.diff(lineOf(position), previous.label, position.label);
  const excerpt = Math.min(window.excerpt ?? 2_000, 100_000);
  const added = new Set(diff?.added);
  const changed = new Map(diff?.changed.map(({ id, fields }) => [id, [...fields]]));
  const inThread = new Set(threadIndexes(view.tree, view.thread));
  const nodes = indicesOf(view.tree.count, window).map((i) => {
    const node = treeNodeAt(view, i, excerpt, inThread.has(i));
    return { ...node, new: diff === null || added.has(node.id), changed: changed.get(node.id) ?? [] };
  });
  return {
    position: positionAnswer(position),
    previous: previous === null ? null : positionAnswer(previous),
    mode: view.thread,
    total: view.tree.count,
    added: diff === null ? view.tree.count : diff.added.length,
    nodes,
    left: previous === null || diff === null ? [] : await leftNodes(home, previous, position, diff, excerpt),
    leftTotal: diff?.removed.length ?? 0,
  };
};

/** From `skip` on `limit` nodes, and `tail` at the end; each once, in document order. */
const indicesOf = (total: number, { skip = 0, limit = 2_000, tail = 0 }: TreeWindow): readonly number[] => {
  const end = Math.min(total, skip + Math.min(limit, MOST_NODES));
  const indices: number[] = [];
  for (let i = skip; i < end; i++) indices.push(i);
  for (let i = Math.max(end, total - Math.min(tail, MOST_NODES)); i < total; i++) indices.push(i);
  return indices;
};

const leftNodes = async (
  home: Home,
  previous: Position,
  position: Position,
  { removed }: DiffResult,
  excerpt: number,
): Promise<LeftNode[]> => {
  if (removed.length === 0) return [];
  const before = await home.view(previous);
  const summary = await home.history(position.history);
  const [passage] = await passages(home, summary, position.strand, [previous.seq, position.seq]);
  return removed
    .slice(0, MOST_LEFT)
    .map((id) => ({ ...leftNode(before, id, excerpt), cause: passage?.left.get(id) ?? null }));
};

const leftNode = ({ tree, payloads }: TreeView, id: string, excerpt: number): Omit<LeftNode, 'cause'> => {
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
