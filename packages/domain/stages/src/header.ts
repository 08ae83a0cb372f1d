import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import type { HeaderConfig, HeaderMode } from './config.ts';
import type { NodeFacts } from './describe-node.ts';
import type { ExactJson } from './exact-json.ts';
import { contentOf } from './node.ts';
import { previewOf, type Preview } from './preview.ts';
import type { Profile } from './profile.ts';
import { SCHEMA_VERSION } from './raw.ts';
import type { StageSelection } from './select.ts';

/** HEADER: the selected messages as hashes and lengths, with previews only if configured. */
export type HeaderStage = {
  readonly schema_version: string;
  readonly policy: 'messages_only';
  readonly header_mode: HeaderMode;
  readonly node_hash: string;
  readonly selected_node_ids: readonly string[];
  readonly selection_sha256: string;
  readonly messages: readonly HeaderItem[];
};

export type HeaderItem = MessageItem | OpaqueItem;

/** A message whose payload is an object. */
export type MessageItem = {
  readonly node_id: string;
  readonly role: string | null;
  readonly name: string | null;
  readonly payload_hash: string;
  readonly content_hash: string;
  readonly content_len: number | null;
  readonly tool_call_count: number | null;
  readonly tool_calls_hash?: string;
} & Partial<Preview>;

/** A message whose payload is not an object. */
export type OpaqueItem = { readonly node_id: string; readonly kind: string; readonly payload_hash: string };

/** Returns the payload of the node at an index of the stream; called for previews only. */
export type ReadPayload = (index: number) => ExactJson;

export const headerStage = (
  profile: Profile,
  nodes: readonly NodeFacts[],
  nodeHash: string,
  { indexes, summary }: StageSelection,
  config: HeaderConfig,
  payload: ReadPayload = noPayload,
): HeaderStage => ({
  schema_version: SCHEMA_VERSION,
  policy: 'messages_only',
  header_mode: config.mode,
  node_hash: nodeHash,
  selected_node_ids: summary.selected_ids,
  selection_sha256: summary.selection_sha256,
  messages: indexes.flatMap((index) => {
    const node = nodes[index] as NodeFacts;
    if (node.kind !== 'message') return [];
    const item = headerItem(node);
    if (config.mode === 'hash_only' || node.message === null || node.message.contentLength === null)
      return [item];
    const content = contentOf(payload(index));
    return [typeof content === 'string' ? { ...item, ...previewOf(profile, content, config) } : item];
  }),
});

/** The HEADER entry of one message, hashes only. */
export const headerItem = ({ id, kind, payloadHash, message }: NodeFacts): HeaderItem =>
  message === null
    ? { node_id: id, kind, payload_hash: payloadHash }
    : {
        node_id: id,
        role: message.role,
        name: message.name,
        payload_hash: payloadHash,
        content_hash: message.contentHash,
        content_len: message.contentLength,
        tool_call_count: message.toolCallCount,
        ...defined({ tool_calls_hash: message.toolCallsHash ?? undefined }),
      };

const noPayload: ReadPayload = () => {
  throw fail('E_INTERNAL', 'previews need payloads, and no payload source is given');
};
