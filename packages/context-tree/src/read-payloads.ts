import { canonicalJson } from '@stemma/canonical';
import { hash } from 'node:crypto';
import { NODE_KIND } from './flat-tree.ts';
import { PayloadNeeded, type EventRef, type PayloadSource } from './node.ts';
import { payloadOf, type TreeNode } from './tree-node.ts';

/** The canonical JSON of a block's content; absent content is the empty text, as in a thread. */
export const contentJson = (node: TreeNode, source: PayloadSource): string => {
  if (node.json !== undefined) return node.json;
  const ref = payloadOf(node);
  const content = ref === null ? undefined : source(ref)['content'];
  return content === undefined ? '""' : canonicalJson(content);
};

/** Reads what a digest needs of the payload, once. */
export const readPayload = (node: TreeNode, source: PayloadSource): void => {
  if (node.content !== undefined && node.extras !== undefined) return;
  const ref = payloadOf(node);
  const { content, ...extras } = ref === null ? {} : source(ref);
  node.content = content === undefined ? null : hash('sha256', canonicalJson(content), 'binary');
  node.extras = Object.keys(extras).length === 0 ? null : extras;
};

/** Reads the payloads that digests of a subtree lack, as far as they are at hand. */
export const readPayloads = (node: TreeNode, source: PayloadSource, missing: EventRef[]): void => {
  if (node.digest === undefined && (node.content === undefined || node.extras === undefined))
    attempt(() => readPayload(node, source), missing);
  if (node.kids !== null) for (const kid of node.kids) readPayloads(kid, source, missing);
};

/** The same for the contents that its slice lacks. */
export const readContents = (node: TreeNode, source: PayloadSource, missing: EventRef[]): void => {
  if (node.kind === NODE_KIND.block && node.json === undefined)
    attempt(() => contentJson(node, source), missing);
  if (node.kids !== null) for (const kid of node.kids) readContents(kid, source, missing);
};

const attempt = (read: () => void, missing: EventRef[]): void => {
  try {
    read();
  } catch (error) {
    if (!(error instanceof PayloadNeeded)) throw error;
    missing.push(...error.refs);
  }
};
