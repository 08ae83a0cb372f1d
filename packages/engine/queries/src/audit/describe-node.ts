import { canonicalJson } from '@stemma/canonical';
import { NODE_KIND, threadIndexes, type EventRef } from '@stemma/context-tree';
import type { TreeView } from '@stemma/history-store';
import type { ComparedNode, CountedPosition } from './types.ts';

/** Tokens of a node's content, counted once for each content, also where views are of several histories. */
export type NodeTokens = (view: TreeView, index: number) => number;

export const openTokenCounts = (count: (text: string) => number): NodeTokens => {
  const known = new Map<string, number>();
  return (view, index) => {
    const ref = view.tree.payloads[index] ?? null;
    if (ref === null) return 0;
    const key = keyOf(view.position.history, ref);
    const before = known.get(key);
    if (before !== undefined) return before;
    const tokens = count(contentText(view, ref) ?? '');
    known.set(key, tokens);
    return tokens;
  };
};

const keyOf = (history: string, { seq, index }: EventRef): string => `${seq}.${index} ${history}`;

/** A content as text: a string itself, anything else as canonical JSON; null if there is none. */
const contentText = ({ payloads }: TreeView, ref: EventRef): string | null => {
  const content = payloads(ref)['content'];
  if (content === undefined) return null;
  return typeof content === 'string' ? content : canonicalJson(content);
};

/** The counts of a position; tokens are those of the contents that the provider thread shows. */
export const countPosition = (view: TreeView, tokens: NodeTokens): CountedPosition => {
  const { tree, thread, position } = view;
  const threadBlocks = threadIndexes(tree, thread);
  return {
    position,
    nodes: tree.count,
    blocks: tree.kinds.filter((kind) => kind === NODE_KIND.block).length,
    turns: tree.kinds.filter((kind) => kind === NODE_KIND.turn).length,
    shown: threadBlocks.length,
    tokens: threadBlocks.reduce((sum, index) => sum + tokens(view, index), 0),
  };
};

export const describeNode = (
  view: TreeView,
  id: string,
  tokens: NodeTokens,
  excerpt: number,
): ComparedNode => {
  const index = view.tree.indexOf(id) ?? 0;
  const ref = view.tree.payloads[index] ?? null;
  const content = ref === null ? null : contentText(view, ref);
  const { nodeType, role, kind } = view.tree.headers[index] ?? { nodeType: '' };
  return {
    id,
    nodeType,
    role: role ?? null,
    kind: kind ?? null,
    tokens: content === null ? null : tokens(view, index),
    excerpt: content === null ? null : wellFormed(content.slice(0, excerpt)),
    characters: content?.length ?? 0,
  };
};

/** The text without its last character if the cut left half of a surrogate pair. */
const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.slice(0, -1));
