/** From the first character of a value to behind its last one. */
export type TextSpan = readonly [from: number, to: number];

/** A field of an object: where its name and its value are. */
export type FieldSpan = { readonly name: string; readonly key: TextSpan; readonly value: TextSpan };

/** The fields of the object that begins at `at`, in order. The text is JSON that a parser has read. */
export const fieldSpans = (text: string, at = 0): FieldSpan[] => {
  const fields: FieldSpan[] = [];
  for (let from = firstIn(text, at); text[from] === '"';) {
    const key: TextSpan = [from, endOfValue(text, from)];
    const start = skipSpace(text, skipSpace(text, key[1]) + 1);
    const value: TextSpan = [start, endOfValue(text, start)];
    fields.push({ name: JSON.parse(text.slice(...key)) as string, key, value });
    from = nextIn(text, value[1]);
  }
  return fields;
};

/** The items of the list that begins at `at`, in order. */
export const itemSpans = (text: string, at: number): TextSpan[] => {
  const items: TextSpan[] = [];
  for (let from = firstIn(text, at); text[from] !== ']' && from < text.length;) {
    const item: TextSpan = [from, endOfValue(text, from)];
    items.push(item);
    from = nextIn(text, item[1]);
  }
  return items;
};

/** The value of the last field of this name, as a parser takes it. */
export const fieldNamed = (fields: readonly FieldSpan[], name: string): FieldSpan | undefined =>
  fields.findLast((field) => field.name === name);

const isSpace = (char: string | undefined): boolean =>
  char === ' ' || char === '\n' || char === '\r' || char === '\t';

const skipSpace = (text: string, at: number): number => {
  let i = at;
  while (isSpace(text[i])) i++;
  return i;
};

const firstIn = (text: string, at: number): number => skipSpace(text, skipSpace(text, at) + 1);

/** Where the next field or item begins, or the bracket that ends them is. */
const nextIn = (text: string, at: number): number => {
  const i = skipSpace(text, at);
  return text[i] === ',' ? skipSpace(text, i + 1) : i;
};

const endOfText = (text: string, at: number): number => {
  for (let from = at + 1; ;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
};

const endOfValue = (text: string, at: number): number => {
  const first = text[at];
  if (first === '"') return endOfText(text, at);
  if (first !== '{' && first !== '[') {
    let i = at;
    while (i < text.length && !isSpace(text[i]) && !',]}'.includes(text[i] as string)) i++;
    return i;
  }
  let depth = 0;
  for (let i = at; i < text.length;) {
    const char = text[i];
    if (char === '"') {
      i = endOfText(text, i);
      continue;
    }
    if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) return i + 1;
    i++;
  }
  return text.length;
};
