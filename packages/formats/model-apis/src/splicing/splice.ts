import { fieldSpans, type FieldSpan, type TextSpan } from './text-spans.ts';

/** A text in location of a part of another. */
export type Splice = { readonly span: TextSpan; readonly text: string };

/** The text with parts replaced, which do not overlap. */
export const spliced = (text: string, splices: readonly Splice[]): string => {
  let done = 0;
  let result = '';
  for (const { span, text: part } of [...splices].sort((a, b) => a.span[0] - b.span[0])) {
    result += text.slice(done, span[0]) + part;
    done = span[1];
  }
  return result + text.slice(done);
};

/** An item of a list as it stands, or a new one. */
export type Element = { readonly item: number } | { readonly text: string };

/** A list with these elements; those that stay keep their bytes, and what is between them. */
export const listOf = (
  text: string,
  list: TextSpan,
  items: readonly TextSpan[],
  elements: readonly Element[],
): string => {
  const [first, last] = [items[0], items.at(-1)];
  const head = first === undefined ? '[' : text.slice(list[0], first[0]);
  const tail = last === undefined ? ']' : text.slice(last[1], list[1]);
  let result = head;
  let before: number | undefined;
  elements.forEach((element, i) => {
    const item = 'item' in element ? element.item : undefined;
    const follows = item !== undefined && before === item - 1;
    if (follows) result += text.slice((items[item - 1] as TextSpan)[1], (items[item] as TextSpan)[0]);
    else if (i > 0) result += ',';
    result += 'text' in element ? element.text : text.slice(...(items[element.item] as TextSpan));
    before = item;
  });
  return result + tail;
};

/** Takes a field away, with the comma. */
export const withoutField = (fields: readonly FieldSpan[], field: FieldSpan): Splice => {
  const at = fields.indexOf(field);
  const [previous, next] = [fields[at - 1], fields[at + 1]];
  if (previous !== undefined) return { span: [previous.value[1], field.value[1]], text: '' };
  return { span: [field.key[0], next?.key[0] ?? field.value[1]], text: '' };
};

/** Puts a field before another. */
export const fieldBefore = (field: FieldSpan, name: string, value: string): Splice => ({
  span: [field.key[0], field.key[0]],
  text: `${JSON.stringify(name)}:${value},`,
});

/** The fields of the object that a text is. */
export const fieldsOfBody = (text: string): FieldSpan[] => fieldSpans(text, text.indexOf('{'));
