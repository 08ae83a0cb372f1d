import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { ExactJson, ExactObject } from '@stemma/stages';
import { treeValue } from './tree-value.ts';

/** An event of a log, and where it stands. */
export type LogEvent = {
  readonly kind: string;
  /** The whole object of the line. */
  readonly line: ExactObject;
  /** The line as it is written. */
  readonly text: string;
  readonly number: number;
  readonly ordinal: number;
};

type Attributes = Record<string, WideJson>;

/** What of a payload has a place in a block, and what is left for `data_event`. */
type MappedEvent = { readonly attributes: Attributes; readonly event: Attributes };

/**
 * The block of an event (`ctree-jsonl@1`). What has no place of its own in a block is in `data_event`; where a tree
 * cannot hold a value exactly, `data_line` is the line as it is written. So nothing of a line is lost.
 */
export const eventToNode = (event: LogEvent, id: string): WideJsonObject => {
  const { kind, payload = null, turn, node_id: given, ...fields } = event.line;
  const { value, exact } = treeValue({
    kind: kind as ExactJson,
    payload,
    turn: turn ?? null,
    given: given ?? null,
    fields,
  });
  const parts = value as { readonly [name: string]: WideJson };
  const mapped = mapEvent(event.kind, parts['payload'] as WideJson, event.ordinal);
  return {
    id,
    nodeType: 'cb',
    ...mapped.attributes,
    data_event: {
      kind: parts['kind'] as WideJson,
      ordinal: event.ordinal,
      line: event.number,
      ...(turn === undefined ? {} : { turn: parts['turn'] as WideJson }),
      ...(given === undefined ? {} : { node_id: parts['given'] as WideJson }),
      ...(Object.keys(fields).length === 0 ? {} : { fields: parts['fields'] as WideJson }),
      ...(event.line['payload'] === undefined ? {} : mapped.event),
    },
    ...(exact ? {} : { data_line: event.text }),
  };
};

const mapEvent = (kind: string, payload: WideJson, ordinal: number): MappedEvent => {
  switch (kind) {
    case 'message':
      return mapMessage(payload, ordinal);
    case 'tool_call':
      return {
        attributes: { role: 'assistant', kind: 'call', content: payload },
        event: { payload: 'content' },
      };
    case 'tool_result':
      return mapResult(payload);
    default:
      // No part of what a model was shown: a block without content or role.
      return { attributes: { kind: kind.toWellFormed() }, event: { payload: 'here', here: payload } };
  }
};

/**
 * `content`, or `text` where there is no content, is the block's content; the rest stands in `data_message`, so that
 * the way back to a message list knows it.
 */
const mapMessage = (payload: WideJson, ordinal: number): MappedEvent => {
  if (!isJsonObject(payload))
    return { attributes: { kind: 'text', content: payload }, event: { payload: 'content' } };
  const { role, ...rest } = payload;
  const from = contentKey(rest);
  const fields = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== from));
  const spoken = typeof role === 'string';
  return {
    attributes: {
      ...(spoken ? { role } : {}),
      kind: 'text',
      ...(from === null ? {} : { content: rest[from] as WideJson }),
      data_message: {
        ordinal,
        content: from === null ? 'absent' : 'whole',
        ...(Object.keys(fields).length === 0 ? {} : { fields }),
      },
    },
    event: {
      payload: 'message',
      ...(from === null ? {} : { content: from }),
      ...(spoken || role === undefined ? {} : { role }),
    },
  };
};

const contentKey = (payload: WideJsonObject): 'content' | 'text' | null => {
  if (payload['content'] !== undefined && payload['content'] !== null) return 'content';
  if (payload['text'] !== undefined && payload['text'] !== null) return 'text';
  return payload['content'] === undefined ? null : 'content';
};

const mapResult = (payload: WideJson): MappedEvent => {
  if (!isJsonObject(payload) || payload['content'] === undefined)
    return { attributes: { role: 'tool', kind: 'result', content: payload }, event: { payload: 'content' } };
  const { content, ...rest } = payload;
  return {
    attributes: { role: 'tool', kind: 'result', content },
    event: { payload: 'result', ...(Object.keys(rest).length === 0 ? {} : { rest }) },
  };
};
