import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { isList, objectOrEmpty } from '../body.ts';
import { jsonText } from '../json-text.ts';
import { anthropicBody } from '../write/anthropic-messages.ts';
import { fieldNamed, fieldSpans, itemSpans, type TextSpan } from './text-spans.ts';
import type { OutgoingMessage, MessageLocation } from './outgoing.ts';
import {
  fieldBefore,
  fieldsOfBody,
  listOf,
  spliced,
  withoutField,
  type Element,
  type Splice,
} from './splice.ts';

/** A message that goes out: its role, and pieces that stand in one that came, or new blocks. */
type Turn = { readonly role: 'user' | 'assistant' | 'other'; readonly parts: Part[] };
type Part =
  | { readonly item: number; readonly blocks: readonly [number, number] | null }
  | { readonly texts: readonly string[] };

/**
 * The body of a request of Anthropic's API with these messages. Users and assistants take turns, so what is new joins a
 * message of its role beside it. The system's messages are in `system`; a later one is said by the user, since the API
 * knows no other location.
 */
export const spliceAnthropic = (
  text: string,
  locations: readonly MessageLocation[],
  messages: readonly OutgoingMessage[],
): string => {
  const fields = fieldsOfBody(text);
  const list = fieldNamed(fields, 'messages');
  if (list === undefined) return text;
  const items = itemSpans(text, list.value[0]);
  const roles = items.map((item) => roleIn(text, item));
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
        ? newPart(message.write)
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
  const elements = turns.map((turn) => elementOf(text, items, turn));
  const splices: Splice[] = [
    { span: list.value, text: listOf(text, list.value, items, elements) },
    ...systemSplices(text, system, locations[0]?.field === 'system'),
  ];
  return spliced(text, splices);
};

const roleIn = (text: string, item: TextSpan): Turn['role'] => {
  const role = fieldNamed(fieldSpans(text, item[0]), 'role');
  const value = role === undefined ? '' : text.slice(...role.value);
  return value === '"user"' ? 'user' : value === '"assistant"' ? 'assistant' : 'other';
};

const partOf = ({ items, blocks }: MessageLocation): Part => ({ item: items?.[0] ?? 0, blocks });

const sameItem = (a: MessageLocation, b: MessageLocation): boolean => a.items?.[0] === b.items?.[0];

/** True if the request has the second one right after the first. */
const isNext = (a: MessageLocation, b: MessageLocation): boolean =>
  sameItem(a, b)
    ? a.blocks?.[1] === b.blocks?.[0]
    : a.items?.[1] === b.items?.[0] && (b.blocks?.[0] ?? 0) === 0;

const newPart = (message: WideJsonObject): [Part, Turn['role']] => [
  { texts: anthropicBlocks(message).map(jsonText) },
  message['role'] === 'assistant' ? 'assistant' : 'user',
];

const elementOf = (text: string, items: readonly TextSpan[], { role, parts }: Turn): Element => {
  const [first] = parts;
  if (first !== undefined && 'item' in first && isWhole(text, items, first.item, parts))
    return { item: first.item };
  const blocks = parts.flatMap((part) =>
    'texts' in part ? part.texts : blockTexts(text, items[part.item] as TextSpan, part.blocks),
  );
  const content = `[${blocks.join(',')}]`;
  // Other fields of a message that came stay.
  const own = parts.find((part) => 'item' in part);
  if (own === undefined) return { text: `{"role":${JSON.stringify(role)},"content":${content}}` };
  const item = items[own.item] as TextSpan;
  const field = fieldNamed(fieldSpans(text, item[0]), 'content');
  const whole = text.slice(...item);
  if (field === undefined) return { text: whole };
  const span = [field.value[0] - item[0], field.value[1] - item[0]] as const;
  return { text: spliced(whole, [{ span, text: content }]) };
};

/** True if the parts are all blocks of one message that came, and nothing else. */
const isWhole = (text: string, items: readonly TextSpan[], item: number, parts: readonly Part[]): boolean => {
  let next = 0;
  for (const part of parts) {
    if (!('item' in part) || part.item !== item) return false;
    if (part.blocks === null) return parts.length === 1;
    if (part.blocks[0] !== next) return false;
    next = part.blocks[1];
  }
  const field = fieldNamed(fieldSpans(text, (items[item] as TextSpan)[0]), 'content');
  return field !== undefined && itemSpans(text, field.value[0]).length === next;
};

/** The blocks of a message as they stand; a text is a block. */
const blockTexts = (text: string, item: TextSpan, blocks: readonly [number, number] | null): string[] => {
  const content = fieldNamed(fieldSpans(text, item[0]), 'content');
  if (content === undefined) return [];
  return contentBlocks(text, content.value).slice(...(blocks ?? [0, undefined]));
};

const contentBlocks = (text: string, span: TextSpan): string[] => {
  const value = text.slice(...span);
  if (value.startsWith('[')) return itemSpans(text, span[0]).map((each) => text.slice(...each));
  return value === '""' || value === 'null' ? [] : [`{"type":"text","text":${value}}`];
};

const systemSplices = (text: string, system: readonly OutgoingMessage[], had: boolean): Splice[] => {
  const fields = fieldsOfBody(text);
  const field = had ? fieldNamed(fields, 'system') : undefined;
  const [only] = system;
  if (system.length === 1 && only !== undefined && 'keep' in only) return [];
  if (only === undefined) return field === undefined ? [] : [withoutField(fields, field)];
  const first = fieldNamed(fields, 'messages') ?? fields[0];
  if (first === undefined) return [];
  const value =
    system.length === 1 && 'write' in only
      ? jsonText(only.write['content'] ?? '')
      : `[${system
          .flatMap((each) =>
            'write' in each
              ? contentAsBlocks(each.write['content']).map(jsonText)
              : contentBlocks(text, (field ?? first).value),
          )
          .join(',')}]`;
  return field === undefined ? [fieldBefore(first, 'system', value)] : [{ span: field.value, text: value }];
};

const contentAsBlocks = (content: WideJson | undefined): WideJson[] => {
  if (isList(content)) return [...content];
  return content === undefined || content === null || content === '' ? [] : [{ type: 'text', text: content }];
};

/** The blocks that a message in the form of the chat API stands for. */
const anthropicBlocks = (message: WideJsonObject): WideJson[] => {
  const { role } = message;
  const said = role === 'assistant' || role === 'tool' ? message : { ...message, role: 'user' };
  const [made] = anthropicBody([said]).messages;
  return contentAsBlocks(objectOrEmpty(made)['content']);
};
