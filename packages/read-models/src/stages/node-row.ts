import { canonicalJson, fromHex, sha256Hex, toHex, type WideJsonObject } from '@stemma/canonical';
import type { Row, Value } from '@stemma/row-store';
import { streamIdOf, type NodeFacts } from '@stemma/stages';
import type { HashedNode } from './hash-node.ts';
import { shapeOf, type NodeKind, type ProjectedNode } from './stream-node.ts';

/** A node of a stream as its row has it: what the stages need of it in the profile `stemma-1`, and where it is from. */
export type StageNode = {
  readonly ordinal: number;
  readonly strand: number;
  readonly seq: number;
  readonly slot: number;
  readonly kind: NodeKind;
  readonly turn: number;
  /** Of lifecycle nodes; that of others lies with their event. */
  readonly payload: WideJsonObject | null;
  /** `payloadSha1` is empty: only a tree view shows it, and then it is computed. */
  readonly facts: NodeFacts;
};

/** The cells of a node (see `tables.ts`). */
export const nodeCells = (
  ordinal: number,
  { kind, turn, payload }: ProjectedNode,
  { digest, payloadHash, label, contentHash, contentLength, role, name }: HashedNode,
): Value => [
  ordinal,
  kind,
  turn,
  fromHex(digest),
  payloadHash === '' ? null : fromHex(payloadHash),
  label === kind ? null : label,
  contentHash === null ? null : fromHex(contentHash),
  contentLength,
  role,
  name,
  kind === 'tool_result' && payload['name'] !== undefined ? true : null,
  kind === 'lifecycle' ? payload : null,
];

export const nodeOf = ({ key, value }: Row): StageNode => {
  const [ordinal, kind, turn, digest, hash, label, content, length, role, name, named, payload] = value as [
    number,
    NodeKind,
    number,
    Uint8Array,
    Uint8Array | null,
    string | null,
    Uint8Array | null,
    number | null,
    string | null,
    string | null,
    boolean | null,
    WideJsonObject | null,
  ];
  const hex = toHex(digest);
  const shown = label ?? kind;
  return {
    ordinal,
    strand: key[1] as number,
    seq: key[2] as number,
    slot: key[3] as number,
    kind,
    turn,
    payload,
    facts: {
      id: streamIdOf(ordinal, hex),
      digest: hex,
      kind,
      turn,
      payloadHash: hash === null ? sha256Hex(canonicalJson(payload)) : toHex(hash),
      payloadSha1: '',
      payloadShape: shapeOf(kind, kind === 'message' ? name !== null : named === true),
      label: shown,
      message:
        content === null
          ? null
          : {
              role,
              name,
              speaker: speakerOf(shown),
              contentHash: toHex(content),
              contentLength: length,
              toolCallCount: null,
              toolCallsHash: null,
            },
      task: null,
    },
  };
};

/** The label of a message ends in its role, trimmed. */
const speakerOf = (label: string): 'user' | 'assistant' | 'system' | null => {
  switch (label) {
    case 'message:user':
      return 'user';
    case 'message:assistant':
      return 'assistant';
    case 'message:system':
      return 'system';
    default:
      return null;
  }
};

/** What the running hashes take of a node that is in rows. */
export const hashedOf = ({ kind, turn, facts }: StageNode): HashedNode => ({
  kind,
  turn,
  digest: facts.digest,
  payloadHash: facts.payloadHash,
  label: facts.label,
  role: facts.message?.role ?? null,
  name: facts.message?.name ?? null,
  contentHash: facts.message?.contentHash ?? null,
  contentLength: facts.message?.contentLength ?? null,
});
