import type { WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { newPayload, nodeIn, type HistoryEvent } from '@stemma/events';
import { payloadIn } from '@stemma/history';
import { guardrailContent } from './guardrail-content.ts';
import type { StageNode } from './node-row.ts';
import { blockNode, eventOfSlot, type NodeKind } from './stream-node.ts';

/** The frame that holds the payload of a node; null for one whose row has it. */
export const payloadFrame = ({ seq, payload }: StageNode): number | null => (payload === null ? seq : null);

const KIND_OF_BLOCK: { readonly [kind in NodeKind]?: string } = { tool_call: 'call', tool_result: 'result' };

/**
 * The payload of a node as it was hashed, from its row and the events of its frame. @throws E_INTERNAL if they do not contain it
 */
export const payloadOf = (node: StageNode, events: readonly HistoryEvent[]): WideJsonObject => {
  if (node.payload !== null) return node.payload;
  const event = events[eventOfSlot(node.slot)];
  if (event?.type === 'InterventionRecorded')
    return { payload: guardrailContent(events), type: event.intervention };
  if (event === undefined || (nodeIn(event) === null && newPayload(event) === null))
    throw fail('E_INTERNAL', `node ${node.facts.id} of the stream is of another event`);
  const kind = KIND_OF_BLOCK[node.kind] ?? 'text';
  return blockNode({ role: node.facts.message?.role ?? null, kind }, payloadIn(event)).payload;
};
