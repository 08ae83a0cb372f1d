import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isList, objectOrEmpty } from '../body.ts';
import { jsonText } from '../json-text.ts';
import { fieldNamed, fieldSpans, itemSpans, type FieldSpan, type TextSpan } from '../splicing/text-spans.ts';
import type { OutgoingMessage, MessageLocation } from '../splicing/outgoing.ts';
import {
  fieldBefore,
  fieldsOfBody,
  listOf,
  spliced,
  withoutField,
  type Element,
  type Splice,
} from '../splicing/splice.ts';
import { contentFor } from '../write/content.ts';
import type { BlockForm } from './block-form.ts';
import { itemRuns, piecesOf } from './read-blocks.ts';
import { asBlocks, blocksBody } from './write-blocks.ts';

/** A message that goes out: its role, and pieces that stand in one that came, or new blocks. */
type Turn = { readonly role: 'user' | 'assistant' | 'other'; readonly parts: Part[] };
type Part =
  | {
      readonly item: number;
      /** Behind the last item: there are several where an API joins them. */
      readonly to: number;
      readonly blocks: readonly [number, number] | null;
    }
  | { readonly texts: readonly string[] };

/**
 * The body of a request of an API of blocks with these messages. Users and assistants take turns, so what is new joins a
 * message of its role beside it. The system's messages are in its field; a later one is said by the user, since such an API
 * knows no other location.
 */
export const spliceBlocks = (
  form: BlockForm,
  text: string,
  locations: readonly MessageLocation[],
  messages: readonly OutgoingMessage[],
): string => {
  const fields = fieldsOfBody(text);
  const list = fieldNamed(fields, form.list);
  if (list === undefined) return text;
  const items = itemSpans(text, list.value[0]);
  const roles = items.map((item) => roleIn(form, text, item));
  const system: OutgoingMessage[] = [];
  const turns: Turn[] = [];
  let before: MessageLocation | undefined;
  for (const message of messages) {
    const location = 'keep' in message ? (locations[message.keep] as MessageLocation) : undefined;
    if (location?.field === 'system' || ('write' in message && message.system)) {
      system.push(message);
      continue;
    }
    const [part, role] =
      'write' in message
        ? newPart(form, message.write)
        : [
            partOf(location as MessageLocation),
            roles[(location as MessageLocation).items?.[0] ?? 0] ?? 'other',
          ];
    const last = turns.at(-1);
    const follows = location !== undefined && before !== undefined && isNext(before, location);
    const joins = last !== undefined && last.role === role && role !== 'other' && !follows;
    if (joins) last.parts.push(part);
    else if (follows && sameItem(before as MessageLocation, location)) last?.parts.push(part);
    else turns.push({ role, parts: [part] });
    before = location;
  }
  const elements = turns.flatMap((turn) => elementsOf(form, text, items, turn));
  const splices: Splice[] = [
    { span: list.value, text: listOf(text, list.value, items, elements) },
    ...systemSplices(form, text, system, locations[0]?.field === 'system'),
  ];
  return spliced(text, splices);
};

/** Where each message of a request is in its body, in the order in which `readRequest` gives them. */
export const blockLocations = (form: BlockForm, body: WideJsonObject): MessageLocation[] => {
  const locations: MessageLocation[] = form.system.some(
    (name) => body[name] !== undefined && body[name] !== null,
  )
    ? [{ field: 'system', items: null, blocks: null }]
    : [];
  const list = body[form.list];
  const items = isList(list) ? list : [];
  for (const { from, to } of itemRuns(form, items)) {
    const own: MessageLocation = { field: 'list', items: [from, to], blocks: null };
    const message = items[from] as WideJson;
    const content = isJsonObject(message) ? message[form.blocks] : null;
    const pieces = to - from > 1 ? [] : piecesOf(form, message, `message ${from}`);
    const isCut = pieces.some(({ role }) => role === 'user' || role === 'tool');
    if (!isList(content) || !isCut) {
      locations.push(own);
      continue;
    }
    let at = 0;
    for (const piece of pieces) {
      const size = piece['role'] === 'tool' ? 1 : isList(piece['content']) ? piece['content'].length : 0;
      locations.push({ ...own, blocks: [at, at + size] });
      at += size;
    }
  }
  return locations;
};

const roleIn = (form: BlockForm, text: string, item: TextSpan): Turn['role'] => {
  const role = fieldNamed(fieldSpans(text, item[0]), 'role');
  if (role === undefined) return form.mayLackRole ? 'user' : 'other';
  const value = text.slice(...role.value);
  if (value === JSON.stringify(form.assistant)) return 'assistant';
  return Object.entries(form.roles).some(([name, is]) => is === 'user' && value === JSON.stringify(name))
    ? 'user'
    : 'other';
};

const partOf = ({ items, blocks }: MessageLocation): Part => ({
  item: items?.[0] ?? 0,
  to: items?.[1] ?? 1,
  blocks,
});

const sameItem = (a: MessageLocation, b: MessageLocation): boolean => a.items?.[0] === b.items?.[0];

/** True if the request has the second one right after the first. */
const isNext = (a: MessageLocation, b: MessageLocation): boolean =>
  sameItem(a, b)
    ? a.blocks?.[1] === b.blocks?.[0]
    : a.items?.[1] === b.items?.[0] && (b.blocks?.[0] ?? 0) === 0;

const newPart = (form: BlockForm, message: WideJsonObject): [Part, Turn['role']] => [
  { texts: newBlocks(form, message).map(jsonText) },
  message['role'] === 'assistant' ? 'assistant' : 'user',
];

const elementsOf = (
  form: BlockForm,
  text: string,
  items: readonly TextSpan[],
  { role, parts }: Turn,
): readonly Element[] => {
  const [first] = parts;
  if (first !== undefined && 'item' in first && isWhole(form, text, items, first.item, parts)) {
    const whole: Element[] = [];
    for (let item = first.item; item < first.to; item++) whole.push({ item });
    return whole;
  }
  const blocks = parts.flatMap((part) => {
    if ('texts' in part) return part.texts;
    const found: string[] = [];
    for (let item = part.item; item < part.to; item++)
      found.push(...blockTexts(form, text, items[item] as TextSpan, part.blocks));
    return found;
  });
  const content = `[${blocks.join(',')}]`;
  // Other fields of a message that came stay.
  const own = parts.find((part) => 'item' in part);
  const called = role === 'assistant' ? form.assistant : role;
  if (own === undefined)
    return [{ text: `{"role":${JSON.stringify(called)},${JSON.stringify(form.blocks)}:${content}}` }];
  const item = items[own.item] as TextSpan;
  const field = fieldNamed(fieldSpans(text, item[0]), form.blocks);
  const whole = text.slice(...item);
  if (field === undefined) return [{ text: whole }];
  const span = [field.value[0] - item[0], field.value[1] - item[0]] as const;
  return [{ text: spliced(whole, [{ span, text: content }]) }];
};

/** True if the parts are all blocks of one message that came, and nothing else. */
const isWhole = (
  form: BlockForm,
  text: string,
  items: readonly TextSpan[],
  item: number,
  parts: readonly Part[],
): boolean => {
  let next = 0;
  for (const part of parts) {
    if (!('item' in part) || part.item !== item) return false;
    if (part.blocks === null) return parts.length === 1;
    if (part.blocks[0] !== next) return false;
    next = part.blocks[1];
  }
  const field = fieldNamed(fieldSpans(text, (items[item] as TextSpan)[0]), form.blocks);
  return field !== undefined && itemSpans(text, field.value[0]).length === next;
};

/** The blocks of a message as they stand; a text is a block. */
const blockTexts = (
  form: BlockForm,
  text: string,
  item: TextSpan,
  blocks: readonly [number, number] | null,
): string[] => {
  const content = fieldNamed(fieldSpans(text, item[0]), form.blocks);
  if (content === undefined) return [];
  return contentBlocks(form, text, content.value).slice(...(blocks ?? [0, undefined]));
};

const contentBlocks = (form: BlockForm, text: string, span: TextSpan): string[] => {
  const value = text.slice(...span);
  if (value.startsWith('[')) return itemSpans(text, span[0]).map((each) => text.slice(...each));
  if (!value.startsWith('"')) return [];
  // The text keeps its bytes.
  return value === '""' ? [] : [jsonText(form.textBlock('')).replace(/"text":""/, () => `"text":${value}`)];
};

const systemSplices = (
  form: BlockForm,
  text: string,
  system: readonly OutgoingMessage[],
  had: boolean,
): Splice[] => {
  const fields = fieldsOfBody(text);
  const field = had ? systemField(form, fields) : undefined;
  const [only] = system;
  if (system.length === 1 && only !== undefined && 'keep' in only) return [];
  if (only === undefined) return field === undefined ? [] : [withoutField(fields, field)];
  const first = fieldNamed(fields, form.list) ?? fields[0];
  if (first === undefined) return [];
  const value =
    system.length === 1 && 'write' in only
      ? jsonText(form.writeSystem([contentOf(form, only.write)]) ?? '')
      : form.systemOfBlocks(
          system.flatMap((each) =>
            'write' in each
              ? asBlocks(form, contentOf(form, each.write)).map(jsonText)
              : systemBlocks(form, text, (field ?? first).value),
          ),
        );
  return field === undefined
    ? [fieldBefore(first, form.system[0], value)]
    : [{ span: field.value, text: value }];
};

const systemField = (form: BlockForm, fields: readonly FieldSpan[]): FieldSpan | undefined =>
  form.system.map((name) => fieldNamed(fields, name)).find((field) => field !== undefined);

const contentOf = (form: BlockForm, message: WideJsonObject): WideJson =>
  contentFor(form.parts, 'system', message['content'] ?? '');

/** The blocks of the system prompt that came. */
const systemBlocks = (form: BlockForm, text: string, span: TextSpan): string[] => {
  const at = form.systemBlocksAt(text, span[0]);
  return at === undefined ? [] : contentBlocks(form, text, [at, span[1]]);
};

/** The blocks that a message in the form of the chat API stands for. */
const newBlocks = (form: BlockForm, message: WideJsonObject): readonly WideJson[] => {
  const { role } = message;
  const said = role === 'assistant' || role === 'tool' ? message : { ...message, role: 'user' };
  const list = blocksBody(form, [said])[form.list];
  const [made] = isList(list) ? list : [];
  return asBlocks(form, objectOrEmpty(made ?? null)[form.blocks] ?? null);
};
