import type { NodeFacts } from './describe-node.ts';
import type { ExactJson } from './exact-json.ts';
import type { HeaderItem } from './header.ts';

/** What the leaves of a tree view show. */
export type LeafView = {
  readonly items: ReadonlyMap<string, HeaderItem>;
  readonly selected: ReadonlySet<string>;
  readonly kept: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
  readonly collapsed: ReadonlySet<string>;
};

/** The metadata of a leaf in the tree view: for a candidate message its HEADER entry, else its payload's SHA-1. */
export const leafMeta = (node: NodeFacts, view: LeafView): { readonly [name: string]: ExactJson } => {
  const { id, digest, kind, payloadSha1 } = node;
  const item = kind === 'message' ? view.items.get(id) : undefined;
  return {
    digest,
    selected: view.selected.has(id),
    kept: view.kept.has(id),
    dropped: view.dropped.has(id),
    collapsed: view.collapsed.has(id),
    ...(item === undefined ? { payload_sha1: payloadSha1 } : itemMeta(item)),
  };
};

const itemMeta = (item: HeaderItem): { readonly [name: string]: ExactJson } => {
  if (!('content_hash' in item))
    return {
      role: null,
      name: null,
      payload_hash: item.payload_hash,
      content_hash: null,
      content_len: null,
      tool_call_count: null,
    };
  const { node_id: _id, tool_calls_hash: _hash, ...shown } = item;
  return shown;
};
