import type { WideJson } from '@stemma/canonical';
import { contentHash, depthAt, knownTime, NODE_KIND, parentIdAt } from '@stemma/context-tree';
import type { TreeView } from '@stemma/history-store';

/** A node with everything there is to know about it at a position. */
export type NodeView = {
  readonly id: string;
  readonly nodeType: string;
  readonly parent: string | null;
  readonly depth: number | null;
  readonly offset: number;
  readonly ttl: number | null;
  readonly [attribute: string]: WideJson | undefined;
};

/** The node at an index of the flat tree: headers, shown ttl, derived facts, content and attributes. */
export const nodeAt = ({ tree, payloads }: TreeView, i: number): NodeView => {
  const headers = tree.headers[i];
  if (headers === undefined) throw new RangeError(`there is no node ${i}`);
  const ref = tree.payloads[i] ?? null;
  const payload = ref === null ? {} : payloads(ref);
  const block = tree.kinds[i] === NODE_KIND.block;
  return {
    ...headers,
    ttl: tree.ttls[i] ?? null,
    parent: parentIdAt(tree, i),
    depth: depthAt(tree, i),
    created_at_iso: knownTime(headers.created_at_ns),
    ...(block ? { content_hash: contentHash(headers, payload) } : {}),
    ...payload,
  };
};
