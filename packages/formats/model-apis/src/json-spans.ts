/** A part of JSON text, in bytes. */
export type JsonSpan = readonly [start: number, end: number];

/** A member of an object: its key, and where its value stands. */
export type JsonMember = { readonly name: string; readonly value: JsonSpan };

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE, COMMA, COLON] = [
  0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x3a,
];

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const afterSpaces = (bytes: Uint8Array, at: number): number => {
  let next = at;
  while (isSpace(bytes[next])) next++;
  return next;
};

const stringEnd = (bytes: Uint8Array, at: number): number => {
  for (let next = at + 1; next < bytes.length; next++) {
    if (bytes[next] === BACKSLASH) next++;
    else if (bytes[next] === QUOTE) return next + 1;
  }
  return -1;
};

const isDelimiter = (byte: number | undefined): boolean =>
  byte === undefined || byte === COMMA || byte === CLOSE || byte === CLOSE_LIST || isSpace(byte);

/**
 * Where the value that begins at a byte ends; -1: it does not. Only brackets and quotes are looked at: whoever reads the
 * value says whether it is JSON.
 */
const valueEnd = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at];
  if (first === QUOTE) return stringEnd(bytes, at);
  if (first !== OPEN && first !== OPEN_LIST) {
    let next = at;
    while (!isDelimiter(bytes[next])) next++;
    return next === at ? -1 : next;
  }
  let depth = 0;
  for (let next = at; next < bytes.length; next++) {
    const byte = bytes[next];
    if (byte === QUOTE) {
      next = stringEnd(bytes, next) - 1;
      if (next < 0) return -1;
    } else if (byte === OPEN || byte === OPEN_LIST) depth++;
    else if ((byte === CLOSE || byte === CLOSE_LIST) && --depth === 0) return next + 1;
  }
  return -1;
};

/** True if a value that ends there is one whatever comes behind it; a number might go on. */
export const isClosed = (bytes: Uint8Array, end: number): boolean =>
  bytes[end - 1] === CLOSE || bytes[end - 1] === CLOSE_LIST || bytes[end - 1] === QUOTE;

/**
 * The items of the list that begins at a byte, after those that are known already; undefined: it is none.
 *
 * @param known items at the beginning of the list that are there
 */
export const itemSpans = (
  bytes: Uint8Array,
  list: number,
  known: readonly JsonSpan[],
): { readonly items: readonly JsonSpan[]; readonly end: number } | undefined => {
  if (bytes[list] !== OPEN_LIST) return undefined;
  const items = [...known];
  let at = afterSpaces(bytes, known.at(-1)?.[1] ?? list + 1);
  if (items.length === 0 && bytes[at] === CLOSE_LIST) return { items, end: at + 1 };
  for (;;) {
    if (items.length > 0) {
      if (bytes[at] === CLOSE_LIST) return { items, end: at + 1 };
      if (bytes[at] !== COMMA) return undefined;
      at = afterSpaces(bytes, at + 1);
    }
    const end = valueEnd(bytes, at);
    if (end === -1) return undefined;
    items.push([at, end]);
    at = afterSpaces(bytes, end);
  }
};

/**
 * The members of the object that the bytes are; undefined: they are none, or one key is there twice.
 *
 * @param skip where a value ends that the caller knows; -1: it does not
 */
export const memberSpans = (
  bytes: Uint8Array,
  skip: (name: string, at: number) => number,
): readonly JsonMember[] | undefined => {
  let at = afterSpaces(bytes, 0);
  if (bytes[at] !== OPEN) return undefined;
  const members: JsonMember[] = [];
  const names = new Set<string>();
  for (at = afterSpaces(bytes, at + 1); bytes[at] !== CLOSE; at = afterSpaces(bytes, at)) {
    if (members.length > 0) {
      if (bytes[at] !== COMMA) return undefined;
      at = afterSpaces(bytes, at + 1);
    }
    if (bytes[at] !== QUOTE) return undefined;
    const keyEnd = stringEnd(bytes, at);
    if (keyEnd === -1) return undefined;
    const name = textAt(bytes, [at + 1, keyEnd - 1]);
    at = afterSpaces(bytes, keyEnd);
    // A key with an escape may be any; its reader would know.
    if (name.includes('\\') || names.has(name) || bytes[at] !== COLON) return undefined;
    names.add(name);
    at = afterSpaces(bytes, at + 1);
    const known = skip(name, at);
    const end = known === -1 ? valueEnd(bytes, at) : known;
    if (end === -1) return undefined;
    members.push({ name, value: [at, end] });
    at = end;
  }
  return afterSpaces(bytes, at + 1) === bytes.length ? members : undefined;
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws TypeError if it is not UTF-8 */
export const textAt = (bytes: Uint8Array, [start, end]: JsonSpan): string =>
  utf8.decode(bytes.subarray(start, end));
