import type { WideJsonObject } from '@stemma/canonical';
import { jsonText } from '../json-text.ts';
import { fieldNamed, itemSpans } from '../splicing/text-spans.ts';
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
import { itemGroups } from './messages.ts';
import { responsesItems } from './write-items.ts';

/** The body of a request of OpenAI's Responses API with these messages. */
export const spliceResponses = (
  text: string,
  locations: readonly MessageLocation[],
  messages: readonly OutgoingMessage[],
): string => {
  const fields = fieldsOfBody(text);
  const input = fieldNamed(fields, 'input');
  const instructions = fieldNamed(fields, 'instructions');
  const splices: Splice[] = [];
  const elements: Element[] = [];
  const items = input !== undefined && text[input.value[0]] === '[' ? itemSpans(text, input.value[0]) : [];
  let isText = false;
  let keepsInstructions = locations[0]?.field !== 'system';
  for (const message of messages) {
    if ('write' in message) {
      if (!keepsInstructions && message.system && typeof message.write['content'] === 'string') {
        // The first message of the system is in the field for it.
        keepsInstructions = true;
        if (instructions !== undefined)
          splices.push({ span: instructions.value, text: JSON.stringify(message.write['content']) });
        continue;
      }
      for (const item of responsesItems(message.write)) elements.push({ text: jsonText(item) });
      continue;
    }
    const location = locations[message.keep] as MessageLocation;
    if (location.field === 'system') keepsInstructions = true;
    else if (location.items !== null)
      for (let i = location.items[0]; i < location.items[1]; i++) elements.push({ item: i });
    else if (input !== undefined) {
      isText = true;
      elements.push({ text: `{"role":"user","content":${text.slice(...input.value)}}` });
    }
  }
  if (!keepsInstructions && instructions !== undefined) splices.push(withoutField(fields, instructions));
  if (!(isText && elements.length === 1)) {
    if (input !== undefined)
      splices.push({ span: input.value, text: listOf(text, input.value, items, elements) });
    else if (elements.length > 0 && fields[0] !== undefined)
      splices.push(fieldBefore(fields[0], 'input', listOf('', [0, 0], [], elements)));
  }
  return spliced(text, splices);
};

/** Where each message of a request is in its body. */
export const responsesLocations = ({ instructions, input }: WideJsonObject): MessageLocation[] => {
  const first: MessageLocation[] =
    instructions === undefined || instructions === null ? [] : [whole('system')];
  if (input === undefined || input === null) return first;
  if (typeof input === 'string') return [...first, whole('list')];
  return [
    ...first,
    ...itemGroups(input).map(({ from, to }): MessageLocation => ({
      field: 'list',
      items: [from, to],
      blocks: null,
    })),
  ];
};

const whole = (field: MessageLocation['field']): MessageLocation => ({ field, items: null, blocks: null });
