import { openWideJsonReader, parseWideJson, type JsonReader, type WideJson } from '@stemma/canonical';
import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import type { Unit } from './importer.ts';
import { startedText } from './started-text.ts';
import { yamlUnits } from './yaml-units.ts';
import { isYamlLine } from './yaml.ts';

/** The most UTF-16 units of a JSON document or a line of JSON lines, each of which is held in memory as one text. */
const MAX_DOCUMENT = 256 * 1024 * 1024;

/** A longer text is read while it comes, so that a fault ends the reading, and no piece takes long. */
const MAX_WAITING = 1024 * 1024;

/** The layout of a file: one JSON document, or one on every line. */
export type Layout = 'document' | 'lines';

/** What the reader of a file wants to get. */
export type UnitOptions = {
  readonly onLayout: (layout: Layout) => void;
  /** From the point where it returns true, lines are returned unparsed; it is asked after the first value. */
  readonly readsLines?: () => boolean;
  /**
   * Asked with the first item of a long list that is the document, or the first line. True: every item is a unit, and is
   * not held in memory any longer.
   */
  readonly takesItems?: (first: WideJson) => boolean;
};

/**
 * The JSON values of a text in pieces: lines if the first line that is not blank is a whole JSON value, else one
 * document. Only one line is held in memory, or one item of a list. A text that begins as YAML does is read as that,
 * and of one that begins as a chat of Aider each line is a text.
 *
 * A later line that is no JSON is a unit with its fault.
 *
 * @throws E_INPUT_NOT_JSON, E_INPUT_TRUNCATED and the other errors of `parseWideJson` for a document or the first line;
 *   E_INPUT_TOO_LARGE.
 */
export async function* readUnits(
  pieces: AsyncIterable<string>,
  name: string,
  { onLayout, readsLines = () => false, takesItems = () => false }: UnitOptions,
): AsyncIterable<Unit> {
  const { firstLine, pieces: started } = await startedText(pieces);
  if (/^# aider chat started at /.test(firstLine)) {
    onLayout('lines');
    yield* textLines(started);
    return;
  }
  if (isYamlLine(firstLine)) {
    onLayout('lines');
    yield* yamlUnits(started, name);
    return;
  }
  let layout: Layout | null = null;
  let number = 1;
  let open: OpenText | null = null;
  /** A line of a document has ended; what follows stands in a line of its own. */
  let broken = false;
  for await (const { part, ends } of readParts(started, () => layout === 'document')) {
    const isLine = layout === 'lines';
    open ??= openText(isLine ? `line ${number}` : name, {
      isRaw: readsLines(),
      keepsFault: isLine,
      ...(layout === null && { takesItems }),
    });
    if (broken) open.add('\n');
    open.add(part);
    broken = false;
    yield* open.items(layout === null ? `line ${number}` : name);
    if (!ends) continue;
    if (layout === null && (open.isRaw || !open.isBlank())) {
      layout = open.isRaw || open.isWhole(`line ${number}`) ? 'lines' : 'document';
      if (layout === 'document' && open.isPython()) throw notPython(name, number);
      onLayout(layout);
      broken = layout === 'document';
    }
    if (layout !== 'document') {
      if (open.isRaw || !open.isBlank()) yield* open.end(`line ${number}`, number);
      open = null;
    }
    number += 1;
  }
  if (layout === null) throw fail('E_INPUT_NOT_JSON', `${name} is empty`);
  if (layout === 'document' && open !== null) yield* open.end(name, 0);
}

/** Lines of a text that is no JSON, each of which is a value. */
async function* textLines(pieces: AsyncIterable<string>): AsyncIterable<Unit> {
  let line = 1;
  let parts: string[] = [];
  for await (const { part, ends } of readParts(pieces, () => false)) {
    parts.push(part);
    if (!ends) continue;
    const text = parts.join('').replace(/\r$/, '');
    yield { where: `line ${line}`, text, value: text, line };
    parts = [];
    line += 1;
  }
}

/** A line or document that is coming. */
type OpenText = {
  /** True if it is not parsed here. */
  readonly isRaw: boolean;
  readonly add: (part: string) => void;
  readonly isBlank: () => boolean;
  /** True if it begins as Python writes an object, with keys in single quotes. */
  readonly isPython: () => boolean;
  /** True if it is whole JSON; a document may begin with what is not. */
  readonly isWhole: (where: string) => boolean;
  /** The items of a list that came so far, if they are taken one by one. */
  readonly items: (where: string) => Iterable<Unit>;
  /** The unit, or the last of its items. */
  readonly end: (where: string, line: number) => Iterable<Unit>;
};

/** The items of a list that are taken one by one. The place of a single item is that of the list. */
const openItems = (takesItems: (first: WideJson) => boolean) => {
  let waiting: WideJson[] = [];
  let taken: boolean | null = null;
  let count = 0;
  const unit = (where: string, value: WideJson): Unit => ({ where, text: '', value, line: 0, isItem: true });
  return {
    areTaken: () => taken === true,
    take: (item: WideJson): boolean => {
      taken ??= takesItems(item);
      if (taken) waiting.push(item);
      return taken;
    },
    *drain(where: string): Iterable<Unit> {
      if (count === 0 && waiting.length === 1) return;
      const ready = waiting;
      waiting = [];
      for (const item of ready) yield unit(`${where}, item ${count++}`, item);
    },
    *end(where: string): Iterable<Unit> {
      if (count > 0) yield* this.drain(where);
      else for (const item of waiting) yield unit(where, item);
    },
  };
};

/** What has come of a text. */
type TextState = {
  /** Of a line that is no JSON; the rest of it is skipped. */
  fault: StemmaError | null;
  length: number;
  /** Of a long text, which is read while it comes. */
  reader: JsonReader | null;
  /** The value, if the text is known to be whole. */
  value: WideJson | undefined;
  blank: boolean;
};

const openText = (
  what: string,
  {
    isRaw,
    keepsFault,
    takesItems = () => false,
  }: {
    readonly isRaw: boolean;
    readonly keepsFault: boolean;
    readonly takesItems?: (first: WideJson) => boolean;
  },
): OpenText => {
  const items = openItems(takesItems);
  const state: TextState = {
    fault: null,
    length: 0,
    reader: null,
    value: undefined,
    blank: true,
  };
  const read = <T>(fn: () => T): T | null => {
    if (state.fault !== null) return null;
    try {
      return fn();
    } catch (error) {
      if (!keepsFault || !isStemmaError(error)) throw error;
      state.fault = error;
      parts.length = 0;
      return null;
    }
  };
  const parts: string[] = [];
  const text = (): string => {
    if (parts.length > 1) parts.splice(0, parts.length, parts.join(''));
    const [whole = ''] = parts;
    // The end of the last line of a document.
    return whole.endsWith('\n') ? whole.slice(0, -1) : whole;
  };
  return {
    isRaw,
    add: (part) => {
      if (part === '' || state.fault !== null) return;
      parts.push(part);
      state.length += part.length;
      state.blank &&= part.trim() === '';
      state.value = undefined;
      if (state.length > MAX_DOCUMENT) throw tooLarge();
      read(() => {
        if (state.reader !== null) state.reader.write(part);
        else if (!isRaw && state.length > MAX_WAITING) {
          state.reader = openWideJsonReader(what, items.take);
          for (const each of parts) state.reader.write(each);
        }
      });
      // White space in front of a long document takes no memory, and nothing that was taken.
      if (state.reader !== null && (state.blank || items.areTaken())) parts.length = 0;
    },
    *items(where) {
      for (const item of items.drain(where)) {
        state.length = 0;
        yield item;
      }
    },
    isBlank: () => state.blank,
    isPython: () => /^\s*\[?\s*\{\s*'/.test(parts[0] ?? ''),
    isWhole: (where) => {
      if (state.reader !== null) return state.reader.isWhole();
      state.value = tryParse(text(), where);
      return state.value !== undefined;
    },
    *end(where, line) {
      if (isRaw) {
        yield { where, text: text(), value: null, line };
        return;
      }
      const parsed = read(() =>
        state.reader === null
          ? (state.value ?? parseWideJson(text(), where))
          : (state.reader.end() as WideJson),
      );
      if (items.areTaken()) yield* items.end(where);
      else if (state.fault !== null) yield { where, text: '', value: null, line, fault: state.fault };
      else
        yield {
          where,
          // Of a long one, few need the text beside the value.
          get text() {
            return text();
          },
          value: parsed,
          line,
        };
    },
  };
};

/** The value of a text that is whole JSON, else undefined (a document may begin like that). */
const tryParse = (text: string, where: string): WideJson | undefined => {
  try {
    return parseWideJson(text, where);
  } catch (error) {
    if (isStemmaError(error, 'E_INPUT_NOT_JSON') || isStemmaError(error, 'E_INPUT_TRUNCATED'))
      return undefined;
    throw error;
  }
};

/** Lines without their ends, in parts as they come; the last part of a line ends it. A document stays as it comes. */
async function* readParts(
  pieces: AsyncIterable<string>,
  isDocument: () => boolean,
): AsyncIterable<{ readonly part: string; readonly ends: boolean }> {
  let open = false;
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf('\n'); end !== -1 && !isDocument(); end = piece.indexOf('\n', start)) {
      yield { part: piece.slice(start, end), ends: true };
      start = end + 1;
    }
    open = start < piece.length || (open && start === 0);
    if (start < piece.length) yield { part: piece.slice(start), ends: false };
  }
  if (open) yield { part: '', ends: true };
}

const notPython = (name: string, line: number): Error =>
  fail(
    'E_INPUT_NOT_JSON',
    `line ${line} of ${name} is a literal of Python, not JSON: write it with json.dumps instead of print or str`,
    { line },
  );

const tooLarge = (): Error =>
  fail(
    'E_INPUT_TOO_LARGE',
    `a JSON document has more than ${MAX_DOCUMENT} characters; JSON lines have no such limit`,
    {
      limit: MAX_DOCUMENT,
    },
  );
