import { fail } from '@stemma/errors';
import { isNumber, notJson, truncated, type JsonReading } from './json-reading.ts';
import { isForbiddenKey, MAX_DEPTH } from './json-value.ts';

/** Reads a JSON text that comes in pieces; no piece is looked at twice, and no value is read by going deeper. */
export type JsonReader = {
  /** Reads on. @throws E_INPUT_NOT_JSON at the first character that no JSON text has there, and what a limit throws */
  readonly write: (piece: string) => void;
  /** True if what came so far is a whole JSON text and no longer one begins with it but for white space. */
  readonly isWhole: () => boolean;
  /** The value, once everything came. @throws E_INPUT_TRUNCATED */
  readonly end: () => unknown;
};

/** What a value takes in memory, in bytes, about; large objects are hash tables, so their keys take more. */
const COST = { container: 72, text: 40, other: 24, key: 16, keyOfLarge: 128 } as const;
const LARGE_OBJECT = 64;

/** So much may the values of a text take, the characters of its texts not counted: about 1.8 million empty objects. */
const MAX_COST = 128 * 1024 * 1024;

/**
 * So many characters may one text have, its escapes read: half as many again as the largest content (record §4), so that
 * a content that is a little too large is refused as one. Its pieces stand in memory beside the text they make.
 */
const MAX_TEXT = 96 * 1024 * 1024;

// Where a reader stands between two tokens.
const VALUE = 0;
const VALUE_OR_END = 1;
const KEY_OR_END = 2;
const KEY = 3;
const COLON = 4;
const COMMA_OR_END = 5;
const DONE = 6;

/** A list or an object that is not closed yet. */
type OpenContainer = {
  readonly list: unknown[] | null;
  readonly object: Record<string, unknown>;
  key: string;
  keys: number;
  order: Set<string> | null;
};

/** A text that no piece has ended yet: its parts, the fewest characters that they make, whether a backslash is open. */
type OpenText = {
  readonly kind: 'text';
  readonly parts: string[];
  least: number;
  escaped: boolean;
  readonly at: number;
};

/** What no piece has ended yet: a text, or a number or word. */
type OpenToken = OpenText | { readonly kind: 'scalar'; text: string; readonly at: number };

/**
 * A reader of one JSON text: any key of an object, integers as `number` says. Linear in the text, nested at most 512 deep.
 *
 * @throws E_INPUT_NOT_JSON, E_INPUT_TRUNCATED, E_INPUT_TOO_DEEP, E_INPUT_TOO_LARGE, what `number` and
 *   `onRepeatedKey` throw; unless it takes any text E_INPUT_FORBIDDEN_KEY, E_INPUT_SURROGATE.
 */
export const openJsonReader = (reading: JsonReading): JsonReader => {
  const { what, keyOrder } = reading;
  const { anyText } = reading;
  const stack: OpenContainer[] = [];
  let top: OpenContainer | null = null;
  let state = VALUE;
  let result: unknown;
  let token: OpenToken | null = null;
  let cost = 0;
  /** The characters before the piece. */
  let before = 0;

  const pay = (price: number, at: number): void => {
    if ((cost += price) > MAX_COST)
      throw fail('E_INPUT_TOO_LARGE', `${what} holds more values than fit into memory, at character ${at}`, {
        at,
      });
  };
  const put = (value: unknown): void => {
    if (top === null) {
      result = value;
      state = DONE;
      return;
    }
    state = COMMA_OR_END;
    if (top.list !== null) {
      if (stack.length === 1 && reading.takesItem?.(value) === true) cost = COST.container;
      else top.list.push(value);
    } else if (top.key === '__proto__') define(top.object, value);
    else top.object[top.key] = value;
  };
  const open = (list: boolean, at: number): void => {
    if (stack.length >= MAX_DEPTH)
      throw fail('E_INPUT_TOO_DEEP', `${what} nests values more than ${MAX_DEPTH} deep`, { at });
    pay(COST.container, at);
    top = { list: list ? [] : null, object: {}, key: '', keys: 0, order: null };
    stack.push(top);
    state = list ? VALUE_OR_END : KEY_OR_END;
  };
  const close = (): void => {
    const { list, object, order } = stack.pop() as OpenContainer;
    if (order !== null) keyOrder?.(object, [...order]);
    top = stack.at(-1) ?? null;
    put(list ?? object);
  };
  const putKey = (key: string, at: number): void => {
    const container = top as OpenContainer;
    const { object } = container;
    if (Object.hasOwn(object, key)) reading.onRepeatedKey(key, at);
    if (!anyText && isForbiddenKey(key))
      throw fail('E_INPUT_FORBIDDEN_KEY', `${what} holds an object with the key ${key}`);
    pay(++container.keys > LARGE_OBJECT ? COST.keyOfLarge : COST.key, at);
    if (keyOrder !== undefined && container.order === null && beginsWithDigit(key))
      container.order = new Set(Object.keys(object));
    container.order?.add(key);
    container.key = key;
    state = COLON;
  };
  const putText = (raw: string, at: number): void => {
    const text = textOf(raw, what, at);
    if (!anyText && !text.isWellFormed())
      throw fail('E_INPUT_SURROGATE', `${what} holds an unpaired surrogate`);
    if (state === KEY || state === KEY_OR_END) {
      putKey(text, at);
      return;
    }
    pay(COST.text, at);
    put(text);
  };
  const putScalar = (text: string, at: number): void => {
    pay(COST.other, at);
    if (text === 'true' || text === 'false') put(text === 'true');
    else if (text === 'null') put(null);
    else if (isNumber(text)) put(reading.number(text));
    else throw notJson(what, at);
  };

  /** Keeps a piece, from `from` on, of a text that does not end in it. */
  const keepPart = (open: OpenText, piece: string, from: number, start: number): void => {
    const part = piece.slice(from);
    open.parts.push(part);
    open.least += fewestCharacters(part);
    open.escaped = endsEscaped(piece, start);
    if (open.least > MAX_TEXT)
      throw fail(
        'E_INPUT_TOO_LARGE',
        `${what} holds a text of more than ${MAX_TEXT} characters, at character ${open.at}`,
        { at: open.at },
      );
  };
  /** Reads a text on from `from`; gives the index behind its end, or of the end of the piece. */
  const readText = (piece: string, from: number): number => {
    const open = token as OpenText;
    // A backslash at the end of the piece before escapes the first character of this one.
    const start = open.escaped ? from + 1 : from;
    const end = endOfText(piece, start);
    if (end === piece.length) {
      keepPart(open, piece, from, start);
      return end;
    }
    open.parts.push(piece.slice(from, end));
    token = null;
    putText(open.parts.length === 1 ? (open.parts[0] as string) : open.parts.join(''), open.at);
    return end + 1;
  };
  const readScalar = (piece: string, from: number): number => {
    const open = token as Extract<OpenToken, { kind: 'scalar' }>;
    const end = endOfScalar(piece, from);
    open.text += piece.slice(from, end);
    if (end === piece.length) return end;
    token = null;
    putScalar(open.text, open.at);
    return end;
  };
  /** Begins a value whose first character stands at `i`; gives the index behind what was read. */
  const begin = (unit: number, piece: string, i: number): number => {
    if (unit === 0x7b || unit === 0x5b) {
      open(unit === 0x5b, before + i);
      return i + 1;
    }
    if (unit === 0x22) {
      const end = endOfText(piece, i + 1);
      if (end < piece.length) {
        putText(piece.slice(i + 1, end), before + i);
        return end + 1;
      }
      token = { kind: 'text', parts: [], least: 0, escaped: false, at: before + i };
      keepPart(token, piece, i + 1, i + 1);
      return end;
    }
    if (!beginsScalar(unit)) throw notJson(what, before + i);
    const end = endOfScalar(piece, i);
    if (end < piece.length) putScalar(piece.slice(i, end), before + i);
    else token = { kind: 'scalar', text: piece.slice(i), at: before + i };
    return end;
  };
  /** Reads one token that begins with `unit` at `i`. */
  const step = (unit: number, piece: string, i: number): number => {
    switch (state) {
      case VALUE_OR_END:
        if (unit !== 0x5d) return begin(unit, piece, i);
        close();
        return i + 1;
      case VALUE:
        return begin(unit, piece, i);
      case KEY_OR_END:
      case KEY:
        if (unit === 0x22) return begin(unit, piece, i);
        if (unit !== 0x7d || state === KEY) throw notJson(what, before + i);
        close();
        return i + 1;
      case COLON:
        if (unit !== 0x3a) throw notJson(what, before + i);
        state = VALUE;
        return i + 1;
      case COMMA_OR_END: {
        const inList = top?.list !== null;
        if (unit === 0x2c) state = inList ? VALUE : KEY;
        else if (unit === (inList ? 0x5d : 0x7d)) close();
        else throw notJson(what, before + i);
        return i + 1;
      }
      default:
        throw notJson(what, before + i);
    }
  };

  return {
    write: (piece) => {
      let i = 0;
      if (token !== null && piece !== '')
        i = token.kind === 'text' ? readText(piece, 0) : readScalar(piece, 0);
      while (i < piece.length) {
        const unit = piece.charCodeAt(i);
        i = unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09 ? i + 1 : step(unit, piece, i);
      }
      before += piece.length;
    },
    isWhole: () => state === DONE || (token?.kind === 'scalar' && stack.length === 0 && isScalar(token.text)),
    end: () => {
      const last = token;
      if (last?.kind === 'scalar') {
        token = null;
        if (!isScalar(last.text) && isBeginning(last.text)) throw truncated(what, before);
        putScalar(last.text, last.at);
      }
      if (state !== DONE || token !== null) throw truncated(what, before);
      return result;
    },
  };
};

/** Where a text that began before `from` ends: at a quote behind an even number of backslashes; else at the very end. */
export const endOfText = (text: string, from: number): number => {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    if (!endsEscaped(text, from, quote)) return quote;
  }
  return text.length;
};

/** The fewest characters that a part of a text may make: an escape makes one of six at the most. */
const fewestCharacters = (part: string): number => {
  let escapes = 0;
  for (let at = part.indexOf('\\'); at !== -1; at = part.indexOf('\\', at + 1)) escapes++;
  return part.length - 5 * escapes;
};

/** True if an odd number of backslashes stands before `end`, none of them before `from`. */
const endsEscaped = (text: string, from: number, end = text.length): boolean => {
  let at = end;
  while (at > from && text.charCodeAt(at - 1) === 0x5c) at--;
  return (end - at) % 2 === 1;
};

/** What stands between the quotes of a text, read. */
const textOf = (raw: string, what: string, at: number): string => {
  if (/[\u0000-\u001f]/.test(raw)) throw notJson(what, at + 1 + raw.search(/[\u0000-\u001f]/));
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    throw notJson(what, at + 1);
  }
};

const beginsScalar = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || unit === 0x2d || unit === 0x74 || unit === 0x66 || unit === 0x6e;

/** What no number or word has: white space, or a mark of JSON. */
const endsScalar = (unit: number): boolean =>
  unit <= 0x20 ||
  unit === 0x2c ||
  unit === 0x5d ||
  unit === 0x7d ||
  unit === 0x22 ||
  unit === 0x3a ||
  unit === 0x5b ||
  unit === 0x7b;

const endOfScalar = (text: string, from: number): number => {
  let end = from;
  while (end < text.length && !endsScalar(text.charCodeAt(end))) end++;
  return end;
};

const WORDS = ['true', 'false', 'null'];
const isScalar = (text: string): boolean => WORDS.includes(text) || isNumber(text);

/** True for what a longer text could make a word or a number. */
const isBeginning = (text: string): boolean =>
  WORDS.some((word) => word.startsWith(text)) || isNumber(`${text}0`);

const beginsWithDigit = (key: string): boolean => {
  const unit = key.charCodeAt(0);
  return unit >= 0x30 && unit <= 0x39;
};

/** The key `__proto__` as the object's own, where plain assignment would set its prototype. */
const define = (object: object, value: unknown): void => {
  Object.defineProperty(object, '__proto__', { value, writable: true, enumerable: true, configurable: true });
};
