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
type OpenScalar = { readonly kind: 'scalar'; text: string; readonly at: number };

type OpenToken = OpenText | OpenScalar;

/** Where a reader stands in its text. */
class TextReader implements JsonReader {
  readonly #reading: JsonReading;
  readonly #what: string;
  readonly #anyText: boolean;
  readonly #stack: OpenContainer[] = [];
  #top: OpenContainer | null = null;
  #state = VALUE;
  #result: unknown;
  #token: OpenToken | null = null;
  #cost = 0;
  /** The characters before the piece. */
  #before = 0;

  constructor(reading: JsonReading) {
    this.#reading = reading;
    this.#what = reading.what;
    this.#anyText = reading.anyText;
  }

  write(piece: string): void {
    let i = 0;
    const token = this.#token;
    if (token !== null && piece !== '')
      i = token.kind === 'text' ? this.#readText(token, piece, 0) : this.#readScalar(token, piece, 0);
    while (i < piece.length) {
      const unit = piece.charCodeAt(i);
      i =
        unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09 ? i + 1 : this.#step(unit, piece, i);
    }
    this.#before += piece.length;
  }

  isWhole(): boolean {
    const token = this.#token;
    return (
      this.#state === DONE || (token?.kind === 'scalar' && this.#stack.length === 0 && isScalar(token.text))
    );
  }

  end(): unknown {
    const last = this.#token;
    if (last?.kind === 'scalar') {
      this.#token = null;
      if (!isScalar(last.text) && isBeginning(last.text)) throw truncated(this.#what, this.#before);
      this.#putScalar(last.text, last.at);
    }
    if (this.#state !== DONE || this.#token !== null) throw truncated(this.#what, this.#before);
    return this.#result;
  }

  #pay(price: number, at: number): void {
    if ((this.#cost += price) > MAX_COST)
      throw fail(
        'E_INPUT_TOO_LARGE',
        `${this.#what} holds more values than fit into memory, at character ${at}`,
        {
          at,
        },
      );
  }

  #put(value: unknown): void {
    if (this.#top === null) {
      this.#result = value;
      this.#state = DONE;
      return;
    }
    this.#state = COMMA_OR_END;
    if (this.#top.list !== null) {
      if (this.#stack.length === 1 && this.#reading.takesItem?.(value) === true) this.#cost = COST.container;
      else this.#top.list.push(value);
    } else if (this.#top.key === '__proto__') define(this.#top.object, value);
    else this.#top.object[this.#top.key] = value;
  }

  #open(list: boolean, at: number): void {
    if (this.#stack.length >= MAX_DEPTH)
      throw fail('E_INPUT_TOO_DEEP', `${this.#what} nests values more than ${MAX_DEPTH} deep`, { at });
    this.#pay(COST.container, at);
    this.#top = { list: list ? [] : null, object: {}, key: '', keys: 0, order: null };
    this.#stack.push(this.#top);
    this.#state = list ? VALUE_OR_END : KEY_OR_END;
  }

  #close(): void {
    const { list, object, order } = this.#stack.pop() as OpenContainer;
    if (order !== null) this.#reading.keyOrder?.(object, [...order]);
    this.#top = this.#stack.at(-1) ?? null;
    this.#put(list ?? object);
  }

  #putKey(key: string, at: number): void {
    const container = this.#top as OpenContainer;
    const { object } = container;
    if (Object.hasOwn(object, key)) this.#reading.onRepeatedKey(key, at);
    if (!this.#anyText && isForbiddenKey(key))
      throw fail('E_INPUT_FORBIDDEN_KEY', `${this.#what} holds an object with the key ${key}`);
    this.#pay(++container.keys > LARGE_OBJECT ? COST.keyOfLarge : COST.key, at);
    if (this.#reading.keyOrder !== undefined && container.order === null && beginsWithDigit(key))
      container.order = new Set(Object.keys(object));
    container.order?.add(key);
    container.key = key;
    this.#state = COLON;
  }

  #putText(raw: string, at: number): void {
    const text = textOf(raw, this.#what, at);
    if (!this.#anyText && !text.isWellFormed())
      throw fail('E_INPUT_SURROGATE', `${this.#what} holds an unpaired surrogate`);
    if (this.#state === KEY || this.#state === KEY_OR_END) {
      this.#putKey(text, at);
      return;
    }
    this.#pay(COST.text, at);
    this.#put(text);
  }

  #putScalar(text: string, at: number): void {
    this.#pay(COST.other, at);
    if (text === 'true' || text === 'false') this.#put(text === 'true');
    else if (text === 'null') this.#put(null);
    else if (isNumber(text)) this.#put(this.#reading.number(text));
    else throw notJson(this.#what, at);
  }

  /** Keeps a piece, from `from` on, of a text that does not end in it. */
  #keepPart(open: OpenText, piece: string, from: number, start: number): void {
    const part = piece.slice(from);
    open.parts.push(part);
    open.least += fewestCharacters(part);
    open.escaped = endsEscaped(piece, start);
    if (open.least > MAX_TEXT)
      throw fail(
        'E_INPUT_TOO_LARGE',
        `${this.#what} holds a text of more than ${MAX_TEXT} characters, at character ${open.at}`,
        { at: open.at },
      );
  }

  /** Reads a text on from `from`; gives the index behind its end, or of the end of the piece. */
  #readText(open: OpenText, piece: string, from: number): number {
    // A backslash at the end of the piece before escapes the first character of this one.
    const start = open.escaped ? from + 1 : from;
    const end = endOfText(piece, start);
    if (end === piece.length) {
      this.#keepPart(open, piece, from, start);
      return end;
    }
    open.parts.push(piece.slice(from, end));
    this.#token = null;
    this.#putText(open.parts.length === 1 ? (open.parts[0] as string) : open.parts.join(''), open.at);
    return end + 1;
  }

  #readScalar(open: OpenScalar, piece: string, from: number): number {
    const end = endOfScalar(piece, from);
    open.text += piece.slice(from, end);
    if (end === piece.length) return end;
    this.#token = null;
    this.#putScalar(open.text, open.at);
    return end;
  }

  /** Begins a value whose first character stands at `i`; gives the index behind what was read. */
  #begin(unit: number, piece: string, i: number): number {
    if (unit === 0x7b || unit === 0x5b) {
      this.#open(unit === 0x5b, this.#before + i);
      return i + 1;
    }
    if (unit === 0x22) {
      const end = endOfText(piece, i + 1);
      if (end < piece.length) {
        this.#putText(piece.slice(i + 1, end), this.#before + i);
        return end + 1;
      }
      const token: OpenText = { kind: 'text', parts: [], least: 0, escaped: false, at: this.#before + i };
      this.#token = token;
      this.#keepPart(token, piece, i + 1, i + 1);
      return end;
    }
    if (!beginsScalar(unit)) throw notJson(this.#what, this.#before + i);
    const end = endOfScalar(piece, i);
    if (end < piece.length) this.#putScalar(piece.slice(i, end), this.#before + i);
    else this.#token = { kind: 'scalar', text: piece.slice(i), at: this.#before + i };
    return end;
  }

  /** Reads one token that begins with `unit` at `i`. */
  #step(unit: number, piece: string, i: number): number {
    switch (this.#state) {
      case VALUE_OR_END:
        if (unit !== 0x5d) return this.#begin(unit, piece, i);
        this.#close();
        return i + 1;
      case VALUE:
        return this.#begin(unit, piece, i);
      case KEY_OR_END:
      case KEY:
        if (unit === 0x22) return this.#begin(unit, piece, i);
        if (unit !== 0x7d || this.#state === KEY) throw notJson(this.#what, this.#before + i);
        this.#close();
        return i + 1;
      case COLON:
        if (unit !== 0x3a) throw notJson(this.#what, this.#before + i);
        this.#state = VALUE;
        return i + 1;
      case COMMA_OR_END: {
        const inList = this.#top?.list !== null;
        if (unit === 0x2c) this.#state = inList ? VALUE : KEY;
        else if (unit === (inList ? 0x5d : 0x7d)) this.#close();
        else throw notJson(this.#what, this.#before + i);
        return i + 1;
      }
      default:
        throw notJson(this.#what, this.#before + i);
    }
  }
}

/**
 * A reader of one JSON text: any key of an object, integers as `number` says. Linear in the text, nested at most 512 deep.
 *
 * @throws E_INPUT_NOT_JSON, E_INPUT_TRUNCATED, E_INPUT_TOO_DEEP, E_INPUT_TOO_LARGE, what `number` and
 *   `onRepeatedKey` throw; unless it takes any text E_INPUT_FORBIDDEN_KEY, E_INPUT_SURROGATE.
 */
export const openJsonReader = (reading: JsonReading): JsonReader => {
  const reader = new TextReader(reading);
  return {
    write: (piece) => reader.write(piece),
    isWhole: () => reader.isWhole(),
    end: () => reader.end(),
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
