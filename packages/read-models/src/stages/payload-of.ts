import type { WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { payloadIn } from '@stemma/history';
import { guardrailContent } from './guardrail-content.ts';
import type { StageNode } from './node-row.ts';
import { blockNode, eventOfSlot, type NodeKind } from './stream-node.ts';

type HistoryEvent = Parameters<typeof payloadIn>[0];

/** The event that holds the payload of a node; null for one whose row has it. */
export const payloadEvent = ({ seq, slot, payload }: StageNode): { seq: number; index: number } | null =>
  payload === null ? { seq, index: eventOfSlot(slot) } : null;

const KIND_OF_BLOCK: { readonly [kind in NodeKind]?: string } = { tool_call: 'call', tool_result: 'result' };

/** The payload of a node as it was hashed, from its row and its event. @throws E_INTERNAL if it is not of the event */
export const payloadOf = (node: StageNode, event: HistoryEvent | undefined): WideJsonObject => {
  if (node.payload !== null) return node.payload;
  if (event?.type === 'InterventionRecorded') {
    const { intervention, content } = event;
    return { payload: guardrailContent(intervention, content as WideJsonObject), type: intervention };
  }
  if (event?.type !== 'NodeInserted' && event?.type !== 'NodeImported' && event?.type !== 'NodeReplaced')
    throw fail('E_INTERNAL', `node ${node.facts.id} of the stream is of another event`);
  const kind = KIND_OF_BLOCK[node.kind] ?? 'text';
  return blockNode({ role: node.facts.message?.role ?? null, kind }, payloadIn(event)).payload;
};
