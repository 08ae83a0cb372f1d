import { canonicalJson } from '@stemma/canonical';
import type { Attempt } from '@stemma/suspend';
import { hash } from 'node:crypto';
import { NODE_KIND } from './flat-tree.ts';
import type { PayloadSource } from './node.ts';
import { payloadOf, type TreeNode } from './tree-node.ts';

/** The canonical JSON of a block's content; absent content is the empty text, as in a thread. */
export const contentJson = (node: TreeNode, source: PayloadSource): string => {
  if (node.json !== undefined) return node.json;
  const ref = payloadOf(node);
  const content = ref === null ? undefined : source(ref)['content'];
  return content === undefined ? '""' : canonicalJson(content);
};

/** Reads the parts of the payload that a digest needs, once. */
export const readPayload = (node: TreeNode, source: PayloadSource): void => {
  if (node.content !== undefined && node.extras !== undefined) return;
  if (node.json !== undefined && node.extras !== undefined) {
    node.content = contentDigest(node.json);
    return;
  }
  const ref = payloadOf(node);
  const { content, ...extras } = ref === null ? {} : source(ref);
  node.content = content === undefined ? null : contentDigest(canonicalJson(content));
  node.extras = Object.keys(extras).length === 0 ? null : extras;
};

const contentDigest = (json: string): string => hash('sha256', json, 'binary');

/** A function that reads the payloads that the digests of a subtree lack. */
export const payloadReader = (source: PayloadSource, attempt: Attempt): ((node: TreeNode) => void) => {
  const read = (node: TreeNode): void => readPayload(node, source);
  const visit = (node: TreeNode): void => {
    if (node.digest === undefined && (node.content === undefined || node.extras === undefined))
      attempt(read, node, undefined);
    if (node.kids !== null) for (const kid of node.kids) visit(kid);
  };
  return visit;
};

/** A function that reads the contents that a slice of the thread lacks. */
export const contentReader = (source: PayloadSource, attempt: Attempt): ((node: TreeNode) => void) => {
  const read = (node: TreeNode): string => contentJson(node, source);
  const visit = (node: TreeNode): void => {
    if (node.kind === NODE_KIND.block && node.json === undefined) attempt(read, node, undefined);
    if (node.kids !== null) for (const kid of node.kids) visit(kid);
  };
  return visit;
};
