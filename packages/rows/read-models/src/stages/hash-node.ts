import { canonicalJson, sha256Hex, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { countCodePoints, nodeLabel, printCanonical, profileNamed } from '@stemma/stages';
import type { LifecyclePayload, NodeKind, ProjectedNode } from './stream-node.ts';

/**
 * A node with its hashes in the profile `stemma-1` (lower-case hex): equal to `describeNode` of the stages, for the
 * five kinds of nodes that histories have. A payload is made canonical once; its SHA-1, which only a tree view shows, is left out.
 */
export type HashedNode = {
  readonly kind: NodeKind;
  readonly turn: number;
  readonly digest: string;
  /** Empty for lifecycle nodes: their rows have the payload itself. */
  readonly payloadHash: string;
  readonly label: string;
  readonly role: string | null;
  readonly name: string | null;
  /** Null for all but messages. */
  readonly contentHash: string | null;
  /** Code points of a message's content, if that is a text. */
  readonly contentLength: number | null;
};

/** Takes time in proportion to the length of the payload. */
export const hashNode = ({ kind, turn, payload }: ProjectedNode): HashedNode => {
  if (kind === 'message') return hashMessage(turn, payload);
  if (kind === 'lifecycle') return hashLifecycle(turn, payload as LifecyclePayload);
  const text = printCanonical(payload);
  return {
    kind,
    turn,
    digest: digestOf(kind, turn, text),
    payloadHash: sha256Hex(text),
    label: kind === 'guardrail' ? `${kind}:${payload['type'] as string}` : kind,
    role: null,
    name: null,
    contentHash: null,
    contentLength: null,
  };
};

/** Takes time in proportion to the nodes that it names. */
export const hashLifecycle = (
  turn: number,
  { type, payload: { cycle, nodes } }: LifecyclePayload,
): HashedNode => {
  const named = nodes === undefined ? '' : `,"nodes":[${nodes.join(',')}]`;
  const text = `{"payload":{"cycle":${cycle}${named}},"type":"${type}"}`;
  return {
    kind: 'lifecycle',
    turn,
    digest: sha256Hex(`{"kind":"lifecycle","payload":${text},"turn":${turn}}`),
    payloadHash: '',
    label: `lifecycle:${type}`,
    role: null,
    name: null,
    contentHash: null,
    contentLength: null,
  };
};

const hashMessage = (turn: number, payload: WideJsonObject): HashedNode => {
  const {
    content,
    name = null,
    role,
  } = payload as {
    content: WideJson;
    name?: string;
    role: string | null;
  };
  const inner = printCanonical(content);
  const named = name === null ? '' : `"name":${canonicalJson(name)},`;
  const text = `{"content":${inner},${named}"role":${canonicalJson(role)}}`;
  const payloadHash = sha256Hex(text);
  return {
    kind: 'message',
    turn,
    digest: digestOf('message', turn, text),
    payloadHash,
    label: messageLabel(role),
    role,
    name,
    contentHash: content === null ? payloadHash : sha256Hex(inner),
    contentLength: typeof content === 'string' ? codePoints(content, inner) : null,
  };
};

const digestOf = (kind: NodeKind, turn: number, text: string): string =>
  sha256Hex(`{"kind":"${kind}","payload":${text},"turn":${turn}}`);

/** Histories are kept in our own profile; others are computed on demand. */
const PROFILE = profileNamed('stemma-1');
const PLAIN_ROLE = /^[a-z_]{1,40}$/;

/** The label of a message in a tree view. */
export const messageLabel = (role: string | null): string =>
  role !== null && PLAIN_ROLE.test(role) ? `message:${role}` : nodeLabel(PROFILE, 'message', { role });

/** `json` is the text as canonical JSON: where that is no longer, every code unit is a character. */
const codePoints = (text: string, json: string): number =>
  json.length === text.length + 2 ? text.length : countCodePoints(text);
