import { canonicalJson, isJsonObject, type WideJson } from '@stemma/canonical';
import { NODE_KIND } from '@stemma/context-tree';
import type { TreeView } from '@stemma/history-store';
import { isFailedBlock } from '@stemma/model-apis';
import { oneLine } from './output.ts';

/** A node in words: who says it and how it begins. Undefined: it is in none of the views. */
export type WordsOfNode = (id: string, width?: number) => string | undefined;

const WIDTH = 60;

/** The words of nodes at positions: those of the first view that has the node. */
export const openExcerpts =
  (...views: readonly TreeView[]): WordsOfNode =>
  (id, width = WIDTH) => {
    for (const view of views) {
      const index = view.tree.indexOf(id);
      if (index !== undefined) return excerptAt(view, index, width);
    }
    return undefined;
  };

type NodeExcerpt = { readonly id: string; readonly words: string; readonly isBlock: boolean };

/** Every node of a view in words, in document order. */
export const excerptsOf = (view: TreeView): readonly NodeExcerpt[] =>
  view.tree.headers.map(({ id }, index) => ({
    id,
    words: excerptAt(view, index),
    isBlock: view.tree.kinds[index] === NODE_KIND.block,
  }));

/** The node at an index in words: `assistant: Your parcel is …`; a container by what it holds. */
const excerptAt = ({ tree, payloads }: TreeView, index: number, width = WIDTH): string => {
  const headers = tree.headers[index];
  const ref = tree.payloads[index] ?? null;
  const payload = ref === null ? {} : payloads(ref);
  const { content } = payload;
  if (content === undefined) return containerText(tree.ends[index] ?? index + 1, index);
  const who = headers?.role ?? headers?.kind ?? '';
  const failed = isFailedBlock(headers?.role, payload) ? 'failed: ' : '';
  return oneLine(`${who === '' ? '' : `${who}: `}${failed}${contentWords(content)}`, width);
};

const containerText = (end: number, index: number): string => {
  const nodes = end - index - 1;
  return nodes <= 0 ? 'empty' : `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
};

/** A content as one text: a call of a tool as people write calls, anything else that is no text as JSON. */
export const contentWords = (content: WideJson): string => {
  if (typeof content === 'string') return content;
  if (isJsonObject(content)) {
    const { function: called } = content;
    if (isJsonObject(called) && typeof called['name'] === 'string')
      return `${called['name']}(${typeof called['arguments'] === 'string' ? called['arguments'] : canonicalJson(called['arguments'] ?? {})})`;
    if (typeof content['text'] === 'string') return content['text'];
  }
  return canonicalJson(content);
};

/** So wide a line is without a terminal. */
const LINE = 120;

/** A line about a node with its words behind it, as far as they fit. */
export const withExcerpt = (line: string, id: string, excerpt: WordsOfNode, width: number): string => {
  const room = Math.min(width, LINE) - line.length - 2;
  const words = room < 12 ? undefined : excerpt(id, room);
  return words === undefined || words === '' ? line : `${line}  ${words}`;
};
