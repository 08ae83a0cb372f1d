import type { WideJson } from '@stemma/canonical';
import type { Headers, Payload } from '@stemma/context-tree';
import { newPayload, nodeIn, type HistoryEvent, type RecordedNode } from '@stemma/events';

/** The headers of a recorded node, and its payload: content and attributes. */
export const splitNode = (node: RecordedNode): { readonly headers: Headers; readonly payload: Payload } => {
  const headers: { -readonly [name in keyof Headers]: Headers[name] } = {
    id: node.id,
    nodeType: node.nodeType,
    offset: node.offset,
    ttl: node.ttl,
    priority: node.priority,
    cycle: node.cycle,
    created_at_ns: node.created_at_ns,
    creation_index: node.creation_index,
  };
  const payload: Record<string, WideJson> = {};
  for (const name in node) {
    switch (name) {
      case 'id':
      case 'nodeType':
      case 'offset':
      case 'ttl':
      case 'priority':
      case 'cycle':
      case 'created_at_ns':
      case 'creation_index':
        break;
      case 'role':
      case 'kind':
      case 'key':
      case 'removable':
      case 'refs':
      case 'provenance':
        if (node[name] !== undefined) headers[name] = node[name] as never;
        break;
      default:
        if (node[name] !== undefined) payload[name] = node[name] as WideJson;
    }
  }
  return { headers, payload };
};

/** The recorded node of headers and payload, as events carry it. */
export const joinNode = (headers: Headers, payload: Payload): RecordedNode => ({ ...payload, ...headers });

/** The payload in an event; empty for events without one. */
export const payloadIn = (event: HistoryEvent): Payload => {
  const node = nodeIn(event);
  return node === null ? ((newPayload(event) ?? {}) as Payload) : splitNode(node).payload;
};
