import { canonicalJson, sha256Hex, type WideJson } from '@stemma/canonical';
import type { Headers, Payload } from './node.ts';

/** True for the attributes that belong to a block's content: `content_*` and `data_*` (context-tree §2). */
export const isContentAttribute = (name: string): boolean =>
  (name.startsWith('content_') && name !== 'content_hash') || name.startsWith('data_');

/**
 * `content_hash` of a block: SHA-256, lower-case hex, of the canonical JSON of its content, kind, role and attributes;
 * a missing value counts as "", an explicit null stays null (context-tree §2).
 */
export const contentHash = (headers: Pick<Headers, 'kind' | 'role'>, payload: Payload): string => {
  const hashed: Record<string, WideJson> = {
    content: payload['content'] === undefined ? '' : payload['content'],
    kind: headers.kind === undefined ? '' : headers.kind,
    role: headers.role === undefined ? '' : headers.role,
  };
  for (const name of Object.keys(payload))
    if (isContentAttribute(name)) hashed[name] = payload[name] as WideJson;
  return sha256Hex(canonicalJson(hashed));
};
