import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { ExactJson, ExactObject } from '@stemma/stages';
import { defined } from '@stemma/values';
import { treeValue } from './tree-value.ts';

/** An event of a log with its line. */
export type LogEvent = {
  readonly kind: string;
  /** The whole object of the line. */
  readonly line: ExactObject;
  /** The line as written. */
  readonly text: string;
  readonly number: number;
  readonly ordinal: number;
};

type Attributes = Record<string, WideJson>;

/** The parts of a payload that a block has attributes for, and the rest, for `data_event`. */
type MappedEvent = { readonly attributes: Attributes; readonly event: Attributes };

/**
 * The block of an event (`ctree-jsonl@1`). Values that have no attribute of a block are in `data_event`; if a tree
 * cannot hold a value exactly, `data_line` is the line as written. So nothing of a line is lost.
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
      // Not a part of what a model was shown: a block without content or role.
      return { attributes: { kind: kind.toWellFormed() }, event: { payload: 'here', here: payload } };
  }
};

/**
 * The block of a message: `content`, or `text` if there is no content, is its content; the rest is in `data_message`,
 * which the export to a message list reads.
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
      ...defined({ content: from ?? undefined }),
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
