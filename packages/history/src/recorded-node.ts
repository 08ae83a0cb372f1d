import type { WideJson } from '@stemma/canonical';
import type { Headers, Payload } from '@stemma/context-tree';
import type { HistoryEvent, RecordedNode } from '@stemma/events';

const HEADERS = new Set([
  'id',
  'nodeType',
  'offset',
  'ttl',
  'priority',
  'cycle',
  'created_at_ns',
  'creation_index',
  'role',
  'kind',
  'key',
  'removable',
  'refs',
  'provenance',
]);

/** A recorded node taken apart: its headers, and content and attributes. */
export const splitNode = (node: RecordedNode): { readonly headers: Headers; readonly payload: Payload } => {
  const headers: Record<string, unknown> = {};
  const payload: Record<string, WideJson> = {};
  for (const name in node) {
    const value = node[name];
    if (value === undefined) continue;
    if (HEADERS.has(name)) headers[name] = value;
    else payload[name] = value as WideJson;
  }
  return { headers: headers as Headers, payload };
};

/** The same put together, as events carry it. */
export const joinNode = (headers: Headers, payload: Payload): RecordedNode =>
  ({ ...payload, ...headers });

/** The payload that an event holds; empty for events that hold none. */
export const payloadIn = (event: HistoryEvent): Payload => {
  if (event.type === 'NodeInserted' || event.type === 'NodeImported') return splitNode(event.node).payload;
  if (event.type === 'TurnSealed') return splitNode(event.turn).payload;
  return event.type === 'NodeReplaced' ? (event.payload as Payload) : {};
};
