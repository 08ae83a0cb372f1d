import type { Attempt } from '@stemma/suspend';
import { NODE_KIND } from './flat-tree.ts';
import type { PayloadSource } from './node.ts';
import { contentJson } from './read-payloads.ts';
import { blockJson } from './thread.ts';
import { headersOf, idOf, type TreeNode } from './tree-node.ts';
import type { Tree } from './tree.ts';

/** A message of a thread as its canonical JSON, or the messages of a turn that is not loaded, of which only the number is known. */
export type ThreadSpan =
  | { readonly text: string; readonly turn: null; readonly messages: 1 }
  | { readonly text: null; readonly turn: string; readonly messages: number };

/** The full thread of a tree without what its turns that are not loaded say. @throws through `attempt`: Missing (payloads) */
export const partialThread = (tree: Tree, source: PayloadSource, attempt: Attempt): readonly ThreadSpan[] => {
  const spans: ThreadSpan[] = [];
  const contentOf = (node: TreeNode): string => contentJson(node, source);
  const visit = (node: TreeNode, inSys: boolean): void => {
    if (node.kind === NODE_KIND.block) {
      const content = attempt(contentOf, node, '');
      spans.push({ text: blockJson(headersOf(node), content, inSys), turn: null, messages: 1 });
    } else for (const kid of node.kids ?? []) visit(kid, inSys);
  };
  visit(tree.sys, true);
  for (const turn of tree.turns) {
    const messages = tree.unloadedBlocks(turn);
    if (messages === undefined) visit(turn, false);
    else if (messages > 0) spans.push({ text: null, turn: idOf(turn), messages });
  }
  visit(tree.ah, false);
  return spans;
};
