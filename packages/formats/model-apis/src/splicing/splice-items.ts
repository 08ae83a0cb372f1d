import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { isList } from '../body.ts';
import { jsonText } from '../json-text.ts';
import type { OutgoingMessage, MessageLocation } from './outgoing.ts';
import { fieldsOfBody, listOf, spliced } from './splice.ts';
import { fieldNamed, itemSpans } from './text-spans.ts';

/** Where the messages of a body are, each an item of a list. */
export const itemLocations = (body: WideJsonObject, field: string): MessageLocation[] => {
  const list = body[field];
  return (isList(list) ? list : []).map((_, i) => ({ field: 'list', items: [i, i + 1], blocks: null }));
};

/** The text of a body with these messages, each an item of a list. @param write the item of a new message */
export const spliceItems = (
  text: string,
  field: string,
  messages: readonly OutgoingMessage[],
  write: (message: WideJsonObject) => WideJson,
): string => {
  const list = fieldNamed(fieldsOfBody(text), field);
  if (list === undefined) return text;
  const elements = messages.map((each) =>
    'keep' in each ? { item: each.keep } : { text: jsonText(write(each.write)) },
  );
  return spliced(text, [
    { span: list.value, text: listOf(text, list.value, itemSpans(text, list.value[0]), elements) },
  ]);
};
