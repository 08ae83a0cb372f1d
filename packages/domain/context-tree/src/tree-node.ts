import { lowerBound } from '@stemma/canonical';
import { NODE_KIND } from './flat-tree.ts';
import type { EventRef, FixedRecord, Headers, NodeRecord, Payload, TurnRecord } from './node.ts';
import { compareSiblings } from './order.ts';

export type AnyRecord = NodeRecord | TurnRecord | FixedRecord;

/**
 * A node of the working tree, linked in both directions. The head is the region `^ah` itself: sealing turns the node
 * into a turn unchanged and replaces it with a new, empty `^ah`, so no block changes. Digests are 32 bytes as latin1
 * text, which V8 keeps in a fifth of the memory of a Uint8Array.
 */
export type TreeNode = {
  /** A value of NODE_KIND. */
  kind: number;
  record: AnyRecord;
  parent: TreeNode | null;
  /** In canonical order; null for blocks. */
  kids: TreeNode[] | null;
  /** False once the node was removed; its children must then be removed in the same frame. */
  alive: boolean;
  /** SHA-256 of the canonical JSON of the content; null: it has none; undefined: not hashed yet. */
  content: string | null | undefined;
  /** Attributes that are not headers, without content; null: none; undefined: not read from the payload yet. */
  extras: Payload | null | undefined;
  /** Canonical JSON of the content, kept while slices of the thread are likely to need it. */
  json: string | undefined;
  /** Digest of the node with its descendants; undefined: not computed yet. */
  digest: string | undefined;
  /** For children of `^sys` and `^seq`: the digest that the sum includes. */
  summed: string | undefined;
  /** For turns and `^sys`: the hash of their slice of the thread. */
  slice: string | undefined;
};

export const makeTreeNode = (kind: number, record: AnyRecord, parent: TreeNode | null): TreeNode => ({
  kind,
  record,
  parent,
  kids: kind === NODE_KIND.block ? null : [],
  alive: true,
  content: undefined,
  extras: undefined,
  json: undefined,
  digest: undefined,
  summed: undefined,
  slice: undefined,
});

export const headersOf = (node: TreeNode): Headers => node.record.headers;
export const idOf = (node: TreeNode): string => node.record.headers.id;
export const payloadOf = (node: TreeNode): EventRef | null => node.record.payload;

/** The first cycle without the node; root, regions and the open head have none. */
export const expiresOf = (node: TreeNode): number | null =>
  node.kind < NODE_KIND.turn ? null : (node.record as NodeRecord).expires;

/** True for root and regions. */
export const isFixed = (node: TreeNode): boolean => node.kind < NODE_KIND.turn;

/** True for a node that only a reference keeps (context-tree §10.11): due at every commit. */
export const isHeld = (node: TreeNode): boolean =>
  node.kind >= NODE_KIND.turn &&
  node.record.headers.ttl === 0 &&
  (node.record as NodeRecord).expires === null;

/** The region that a node below the root is in, or that it is: one of NODE_KIND.sys, seq, ah. */
export const regionOf = (node: TreeNode): number => {
  let at = node;
  while (at.parent !== null && at.kind >= NODE_KIND.turn) at = at.parent;
  return at.kind;
};

/** The index of a node among its parent's children, or the index at which it would be inserted. */
export const insertionIndex = (kids: readonly TreeNode[], headers: Headers): number => {
  // Most come and go at the end.
  const last = kids[kids.length - 1];
  const order = last === undefined ? -1 : compareSiblings(last.record.headers, headers);
  if (order < 0) return kids.length;
  if (order === 0) return kids.length - 1;
  return lowerBound(
    0,
    kids.length - 1,
    (i) => compareSiblings((kids[i] as TreeNode).record.headers, headers) < 0,
  );
};

/** Calls `visit` for the node and then its descendants, in document order. */
export const eachInSubtree = (node: TreeNode, visit: (node: TreeNode) => void): void => {
  visit(node);
  if (node.kids !== null) for (const kid of node.kids) eachInSubtree(kid, visit);
};

/** Document order, for `sort`: the order of the provider thread, containers before their children. */
export const compareDocument = (a: TreeNode, b: TreeNode): number => {
  if (a === b) return 0;
  const up = (node: TreeNode): TreeNode[] => {
    const path: TreeNode[] = [];
    for (let at: TreeNode | null = node; at !== null; at = at.parent) path.push(at);
    return path.reverse();
  };
  const left = up(a);
  const right = up(b);
  for (let i = 0; i < left.length && i < right.length; i++) {
    const x = left[i] as TreeNode;
    const y = right[i] as TreeNode;
    if (x === y) continue;
    return isFixed(x) || isFixed(y) ? x.kind - y.kind : compareSiblings(x.record.headers, y.record.headers);
  }
  return left.length - right.length;
};
