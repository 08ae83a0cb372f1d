import { canonicalJson, sha256Hex, toHex, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { NamedRow } from '@stemma/row-store';
import type { STAGE_NODES } from './tables.ts';
import { streamIdOf, type NodeFacts } from '@stemma/stages';
import { hashLifecycle, messageLabel, type HashedNode } from './hash-node.ts';
import {
  LIFECYCLE_TYPES,
  NODE_KINDS,
  shapeOf,
  type LifecyclePayload,
  type LifecycleType,
  type NodeKind,
  type ProjectedNode,
} from './stream-node.ts';

/** A node of a stream, read from its row: its hashes in the profile `stemma-1`, and the event it comes from. */
export type StageNode = {
  readonly ordinal: number;
  readonly branchId: number;
  readonly seq: number;
  readonly slot: number;
  readonly kind: NodeKind;
  readonly turn: number;
  /** For lifecycle nodes; the payload of others is in their event. */
  readonly payload: WideJsonObject | null;
  /** `payloadSha1` is empty: only a tree view shows it, and then it is computed. */
  readonly facts: NodeFacts;
};

/** The columns of a node's row other than its hashes (see `tables.ts`). */
export const nodeCells = (
  { slot, kind, turn, payload }: ProjectedNode,
  { role, name, contentLength }: HashedNode,
): readonly WideJson[] => {
  switch (kind) {
    case 'message':
      return name === null
        ? [slot, 0, turn, role, contentLength]
        : [slot, 0, turn, role, contentLength, name];
    case 'tool_call':
      return [slot, 1, turn];
    case 'tool_result':
      return payload['name'] === undefined ? [slot, 2, turn] : [slot, 2, turn, true];
    case 'guardrail':
      return [slot, 3, turn, payload['type'] as string];
    case 'lifecycle': {
      const { type, payload: details } = payload as LifecyclePayload;
      const number = LIFECYCLE_TYPES.indexOf(type);
      return details.nodes === undefined
        ? [slot, 4, turn, number, details.cycle]
        : [slot, 4, turn, number, details.cycle, details.nodes];
    }
  }
};

/** The hashes in the row of a node, in hex: none of a lifecycle node, whose row has all that its digest is made of. */
export const nodeHashes = ({ kind, digest, payloadHash, contentHash }: HashedNode): string =>
  kind === 'lifecycle' ? '' : digest + payloadHash + (contentHash ?? '');

/** Characters of a hash in hex. */
const HASH = 64;

/** A node read from its row, and its slot. */
type RowNode = { readonly slot: number; readonly cells: readonly WideJson[]; readonly hashed: HashedNode };

/** The nodes of a row, in order. */
export const rowNodes = ({
  hashes,
  nodes,
}: Pick<NamedRow<typeof STAGE_NODES>, 'hashes' | 'nodes'>): readonly RowNode[] => {
  const hex = toHex(hashes);
  let at = HASH;
  const next = (): string => hex.slice(at, (at += HASH));
  return (nodes as readonly (readonly WideJson[])[]).map((cells) => {
    const [slot, kind, turn] = cells as readonly number[] as readonly [number, number, number];
    const name = NODE_KINDS[kind] ?? 'lifecycle';
    const hashed =
      name === 'lifecycle' ? hashLifecycle(turn, lifecyclePayload(cells)) : hashedOf(name, turn, cells, next);
    return { slot, cells, hashed };
  });
};

const hashedOf = (
  kind: Exclude<NodeKind, 'lifecycle'>,
  turn: number,
  [, , , details, length, name]: readonly WideJson[],
  next: () => string,
): HashedNode => {
  const digest = next();
  const payloadHash = next();
  if (kind !== 'message') {
    const label = kind === 'guardrail' ? `${kind}:${details as string}` : kind;
    const none = { role: null, name: null, contentHash: null, contentLength: null };
    return { kind, turn, digest, payloadHash, label, ...none };
  }
  const role = (details ?? null) as string | null;
  return {
    kind,
    turn,
    digest,
    payloadHash,
    label: messageLabel(role),
    role,
    name: (name ?? null) as string | null,
    contentHash: next(),
    contentLength: (length ?? null) as number | null,
  };
};

/** The nodes of a row, in the form that the stages read. */
export const stageNodesOf = (row: NamedRow<typeof STAGE_NODES>): readonly StageNode[] => {
  const { branch_id: branchId, seq, ordinal: first } = row;
  return rowNodes(row).map(({ slot, cells, hashed }, i) => {
    const { kind, turn } = hashed;
    const payload = kind === 'lifecycle' ? lifecyclePayload(cells) : null;
    return {
      ordinal: first + i,
      branchId,
      seq,
      slot,
      kind,
      turn,
      payload,
      facts: factsOf(first + i, cells, hashed),
    };
  });
};

const lifecyclePayload = ([, , , type, cycle, nodes]: readonly WideJson[]): LifecyclePayload => ({
  payload: { cycle: cycle as number, ...(nodes === undefined ? {} : { nodes: nodes as readonly number[] }) },
  type: LIFECYCLE_TYPES[type as number] as LifecycleType,
});

const factsOf = (ordinal: number, cells: readonly WideJson[], hashed: HashedNode): NodeFacts => {
  const { kind, turn, digest, label, role, name, contentHash, contentLength } = hashed;
  return {
    id: streamIdOf(ordinal, digest),
    digest,
    kind,
    turn,
    payloadHash:
      kind === 'lifecycle' ? sha256Hex(canonicalJson(lifecyclePayload(cells))) : hashed.payloadHash,
    payloadSha1: '',
    payloadShape: shapeOf(kind, kind === 'message' ? name !== null : cells[3] === true),
    label,
    message:
      contentHash === null
        ? null
        : {
            role,
            name,
            speaker: speakerOf(label),
            contentHash,
            contentLength,
            toolCallCount: null,
            toolCallsHash: null,
          },
    task: null,
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
