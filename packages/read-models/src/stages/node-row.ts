import { fromHex, toHex, type WideJsonObject } from '@stemma/canonical';
import type { Row, Value } from '@stemma/row-store';
import { streamIdOf, type NodeFacts } from '@stemma/stages';
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
  readonly facts: NodeFacts;
};

/** The cells of a node (see `tables.ts`). */
export const nodeCells = (
  ordinal: number,
  { kind, turn, payload }: ProjectedNode,
  facts: NodeFacts,
): Value => {
  const { message, label } = facts;
  return [
    ordinal,
    kind,
    turn,
    fromHex(facts.digest),
    fromHex(facts.payloadHash),
    fromHex(facts.payloadSha1),
    label === kind ? null : label,
    message === null ? null : fromHex(message.contentHash),
    message?.contentLength ?? null,
    message?.role ?? null,
    message?.name ?? null,
    kind === 'tool_result' && payload['name'] !== undefined ? true : null,
    kind === 'lifecycle' ? payload : null,
  ];
};

export const nodeOf = ({ key, value }: Row): StageNode => {
  const [ordinal, kind, turn, digest, hash, sha1, label, content, length, role, name, named, payload] =
    value as [
      number,
      NodeKind,
      number,
      Uint8Array,
      Uint8Array,
      Uint8Array,
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
      payloadHash: toHex(hash),
      payloadSha1: toHex(sha1),
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
