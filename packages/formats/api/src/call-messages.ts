import type { RemovedNode, TreeNodeAnswer, TreePage } from './questions/tree.ts';

/** What a call was shown against the call before. */
export type CallMessages = {
  /** What only the call before was shown. */
  readonly left: readonly RemovedNode[];
  readonly changed: readonly TreeNodeAnswer[];
  readonly fresh: readonly TreeNodeAnswer[];
  readonly asBefore: readonly TreeNodeAnswer[];
};

/** The nodes of a tree that the model is shown. */
export const messagesOf = ({ nodes }: Pick<TreePage, 'nodes'>): readonly TreeNodeAnswer[] =>
  nodes.filter(({ thread }) => thread !== null);

/** What ages is the same message. */
const hasChanged = ({ changed }: TreeNodeAnswer): boolean => changed.some((field) => field !== 'ttl');

/** The messages of a call by what became of them since the call before; of the first call all are new. */
export const callMessages = (page: TreePage): CallMessages => {
  const messages = messagesOf(page);
  const isFirst = page.previous === null;
  return {
    left: page.removed.filter(({ content, role }) => content !== null || role !== null),
    changed: messages.filter((node) => !node.new && hasChanged(node)),
    fresh: messages.filter((node) => node.new || isFirst),
    asBefore: messages.filter((node) => !node.new && !isFirst && !hasChanged(node)),
  };
};

/** The messages that followed a call: what it decided, and what came back. @param next the tree at the call after it */
export const followingOf = (
  next: Pick<TreePage, 'nodes'>,
): { readonly decided: readonly TreeNodeAnswer[]; readonly back: readonly TreeNodeAnswer[] } => {
  const fresh = messagesOf(next).filter((node) => node.new);
  const roleOf = (node: TreeNodeAnswer): string => node.thread?.role ?? node.role ?? '';
  return {
    decided: fresh.filter((node) => roleOf(node) === 'assistant'),
    back: fresh.filter((node) => roleOf(node) === 'tool' || roleOf(node) === 'function'),
  };
};
