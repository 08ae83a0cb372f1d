import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { wireOrder } from '@stemma/model-apis';
import { NAMED_FIELDS, RESULT_ROLES, type ContentForm } from './fields.ts';

type Attributes = Record<string, WideJson>;

/** A piece of a message before it is a node: the kind of block, its content (or none), its own attributes. */
type Piece = { readonly kind: 'text' | 'call' | 'result'; readonly payload: Attributes };

/** A message in pieces: how its content is made of them, and the remaining fields. */
type Broken = { readonly form: ContentForm; readonly pieces: readonly Piece[]; readonly fields: Attributes };

/**
 * The blocks of a message, one per piece (context-tree §9), in the order in which its API has them; `callsLast`: all calls behind all
 * parts, as the mapping `openai-chat@1` has them. Ids are `m<ordinal>` and `m<ordinal>:<n>`.
 * What the pieces lack is in `data_message` of the first (with `data_name`, `data_tool_call_id`); in the others
 * `data_continues` names their message.
 */
export const messageToNodes = (
  message: WideJsonObject,
  ordinal: number,
  { callsLast = false }: { readonly callsLast?: boolean } = {},
): WideJsonObject[] => {
  const broken = breakUp(message);
  const { form, fields } = broken;
  const pieces = callsLast ? broken.pieces : inWireOrder(message, broken.pieces);
  const id = `m${ordinal}`;
  return pieces.map(({ kind, payload }, index) => ({
    id: index === 0 ? id : `${id}:${index}`,
    nodeType: 'cb',
    role: message['role'] as string,
    kind,
    ...payload,
    ...(index === 0 ? remarks(ordinal, form, fields) : { data_continues: ordinal }),
  }));
};

/** Parts and calls as they follow each other; an old `function_call`, which has no place among them, is the last. */
const inWireOrder = (message: WideJsonObject, pieces: readonly Piece[]): readonly Piece[] => {
  const parts = pieces.filter(({ kind }) => kind !== 'call');
  const calls = pieces.filter(({ kind }) => kind === 'call');
  if (parts.length === 0 || calls.length === 0) return pieces;
  const ordered = wireOrder(message).flatMap(
    ({ what, index }) => (what === 'call' ? calls[index] : parts[index]) ?? [],
  );
  return [...ordered, ...pieces.filter((piece) => !ordered.includes(piece))];
};

const remarks = (ordinal: number, form: ContentForm, fields: Attributes): Attributes => {
  const named: Attributes = {};
  const rest: Attributes = {};
  for (const [name, value] of Object.entries(fields)) {
    if (Object.hasOwn(NAMED_FIELDS, name) && typeof value === 'string')
      named[NAMED_FIELDS[name as keyof typeof NAMED_FIELDS]] = value;
    else rest[name] = value;
  }
  const some = Object.keys(rest).length > 0;
  return { ...named, data_message: { ordinal, content: form, ...(some ? { fields: rest } : {}) } };
};

const breakUp = (message: WideJsonObject): Broken => {
  const { role, content, ...rest } = message;
  if (RESULT_ROLES.has(role as string))
    return { form: formOfOne(content), pieces: [one('result', content)], fields: rest };
  const calls = callsOf(rest);
  const texts = Array.isArray(content) ? (content as readonly WideJson[]).map(partPiece) : [];
  if (texts.length > 0) return { form: 'parts', pieces: [...texts, ...calls.pieces], fields: calls.rest };
  if (calls.pieces.length === 0)
    return { form: formOfOne(content), pieces: [one('text', content)], fields: calls.rest };
  if (content === undefined || content === null)
    return { form: content === null ? 'null' : 'absent', pieces: calls.pieces, fields: calls.rest };
  // An empty list beside calls has no block of its own: the list of no text blocks.
  if (Array.isArray(content)) return { form: 'parts', pieces: calls.pieces, fields: calls.rest };
  return { form: 'whole', pieces: [one('text', content), ...calls.pieces], fields: calls.rest };
};

const formOfOne = (content: WideJson | undefined): ContentForm =>
  content === undefined ? 'absent' : 'whole';

const one = (kind: Piece['kind'], content: WideJson | undefined): Piece => ({
  kind,
  payload: content === undefined ? {} : { content },
});

/** A text part: its text is the content, its other fields are `data_part`; any other part is kept unchanged. */
const partPiece = (part: WideJson): Piece => {
  if (typeof part === 'string') return { kind: 'text', payload: { content: part, data_part: 'raw' } };
  if (!isJsonObject(part) || part['type'] !== 'text' || typeof part['text'] !== 'string')
    return { kind: 'text', payload: { content: part } };
  const { text, ...rest } = part;
  const plain = Object.keys(rest).length === 1;
  return { kind: 'text', payload: { content: text, ...(plain ? {} : { data_part: rest }) } };
};

const callsOf = (
  fields: WideJsonObject,
): { readonly pieces: readonly Piece[]; readonly rest: Attributes } => {
  const pieces: Piece[] = [];
  const rest: Attributes = { ...fields };
  const { tool_calls: calls, function_call: old } = fields;
  if (Array.isArray(calls) && calls.length > 0) {
    for (const call of calls as readonly WideJson[])
      pieces.push({ kind: 'call', payload: { content: call } });
    delete rest['tool_calls'];
  }
  if (isJsonObject(old)) {
    pieces.push({ kind: 'call', payload: { content: old, data_call: 'function_call' } });
    delete rest['function_call'];
  }
  return { pieces, rest };
};
