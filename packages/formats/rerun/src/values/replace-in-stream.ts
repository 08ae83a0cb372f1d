import { joinBytes } from '@stemma/canonical';
import { awsMessage, awsMessages, streamBlocksOf, type Framing, type ModelApi } from '@stemma/model-apis';
import type { ReplacedPart, Replacements } from './bindings.ts';
import {
  decoded,
  isInSealed,
  jsonLiterals,
  pathOf,
  replaceInJson,
  withRawParts,
  type JsonLiteral,
} from './json-literals.ts';

/** A piece of the text of a block, which an event brings. */
type Piece = { readonly literal: JsonLiteral; readonly raw: string; readonly text: string };

/** A line of a stream; of one that is the data of an event, its JSON. */
type Line = {
  readonly text: string;
  readonly data: { readonly at: number; readonly literals: readonly JsonLiteral[] } | null;
};

/** A stream of events with the values of now in it. */
export const replaceInStream = (
  api: ModelApi,
  framing: Exclude<Framing, 'list'>,
  bytes: Uint8Array,
  replacements: Replacements,
): Uint8Array => {
  if (framing === 'aws') return replaceInMessages(api, bytes, replacements);
  const whole = endOfLines(bytes);
  const text = textOf(bytes.subarray(0, whole));
  if (text === null) return bytes;
  const data = framing === 'lines' ? JSON_LINE : EVENT_LINE;
  const lines = text.split(/(?<=\n|\r(?!\n))/).map((line) => lineOf(line, data));
  const replaced = replacedLines(api, lines, replacements);
  return joinBytes([new TextEncoder().encode(replaced.join('')), bytes.subarray(whole)]);
};

const replacedLines = (api: ModelApi, lines: readonly Line[], replacements: Replacements): string[] => {
  const blocks = openBlocks(api);
  for (const { text: line, data } of lines) if (data !== null) blocks.add(line.slice(data.at), data.literals);
  const parts = blocks.parts(replacements);
  return lines.map(({ text: line, data }) =>
    data === null
      ? line
      : line.slice(0, data.at) + withPieces(line.slice(data.at), data.literals, parts, replacements),
  );
};

/** The messages of AWS's event stream; a chunk of InvokeModel holds its event as base64. What the end cuts off stays. */
const replaceInMessages = (api: ModelApi, bytes: Uint8Array, replacements: Replacements): Uint8Array => {
  const messages = [...awsMessages(bytes)];
  const texts = messages.map(({ payload }) => textOf(payload) ?? '');
  const chunks = texts.map((text) => CHUNK.exec(text)?.[2] ?? null);
  const lines = texts.map((text, i) => {
    const chunk = chunks[i] ?? null;
    return lineOf(chunk === null ? text : Buffer.from(chunk, 'base64').toString(), JSON_LINE);
  });
  const replaced = replacedLines(api, lines, replacements).map((line, i) => {
    const chunk = chunks[i] ?? null;
    if (chunk === null || line === lines[i]?.text) return chunk === null ? line : (texts[i] ?? '');
    return (texts[i] ?? '').replace(
      CHUNK,
      (_, before: string) => `${before}${Buffer.from(line).toString('base64')}`,
    );
  });
  const size = messages.reduce((sum, { bytes: each }) => sum + each.length, 0);
  const made = messages.map((message, i) =>
    replaced[i] === texts[i]
      ? message.bytes
      : awsMessage({ headers: message.headers, payload: new TextEncoder().encode(replaced[i]) }),
  );
  return joinBytes([...made, bytes.subarray(size)]);
};

/** The base64 of a chunk, behind what stands before it. */
const CHUNK = /^(\{\s*"bytes"\s*:\s*")([A-Za-z0-9+/=]+)/;

/** Where the last whole line ends: behind it a character may be cut. */
const endOfLines = (bytes: Uint8Array): number =>
  Math.max(bytes.lastIndexOf(0x0a), bytes.lastIndexOf(0x0d)) + 1;

/** Null: it is not UTF-8. */
const textOf = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
};

/** What stands before the JSON of a line. */
const [EVENT_LINE, JSON_LINE] = [/^\uFEFF?data: ?(?=[[{])/, /^\uFEFF?\s*(?=[[{])/];

const lineOf = (text: string, data: RegExp): Line => {
  const start = data.exec(text);
  if (start === null) return { text, data: null };
  const at = start[0].length;
  return { text, data: { at, literals: jsonLiterals(text.slice(at)) } };
};

/** What is replaced in pieces, by their literals. */
type PieceParts = ReadonlyMap<JsonLiteral, readonly ReplacedPart[]>;

/** The data of an event: pieces of blocks as their block has it, all else by itself. */
const withPieces = (
  data: string,
  literals: readonly JsonLiteral[],
  pieces: PieceParts,
  replacements: Replacements,
): string => {
  let text = '';
  let done = 0;
  const byItself: JsonLiteral[] = [];
  const flush = (end: number): void => {
    const moved = byItself.map((each) => ({ ...each, start: each.start - done, end: each.end - done }));
    text += replaceInJson(data.slice(done, end), replacements, moved);
    byItself.length = 0;
  };
  for (const literal of literals) {
    const parts = pieces.get(literal);
    if (parts === undefined) {
      byItself.push(literal);
      continue;
    }
    flush(literal.start);
    text += withRawParts(data.slice(literal.start, literal.end), parts);
    done = literal.end;
  }
  flush(data.length);
  return text;
};

/** Collects the pieces of each block, in order. */
const openBlocks = (api: ModelApi) => {
  const blocks = new Map<string, Piece[]>();
  const blockOf = streamBlocksOf(api);
  return {
    add: (data: string, literals: readonly JsonLiteral[]): void => {
      const fields = new Map(
        literals.filter(({ kind }) => kind !== 'key').map((each) => [pathOf(each), each]),
      );
      const valueAt = (path: string): string | null => {
        const literal = fields.get(path);
        if (literal === undefined) return null;
        const raw = data.slice(literal.start, literal.end);
        return literal.kind === 'number' ? raw : decoded(raw);
      };
      for (const [path, literal] of fields) {
        if (literal.kind !== 'string' || isInSealed(literal)) continue;
        const block = blockOf(path, valueAt);
        if (block === null) continue;
        const raw = data.slice(literal.start, literal.end);
        const pieces = blocks.get(block) ?? [];
        blocks.set(block, pieces);
        pieces.push({ literal, raw, text: decoded(raw) });
      }
    },
    parts: (replacements: Replacements): PieceParts => {
      const found = new Map<JsonLiteral, readonly ReplacedPart[]>();
      for (const pieces of blocks.values())
        for (const [literal, parts] of partsOfPieces(pieces, replacements)) found.set(literal, parts);
      return found;
    },
  };
};

/** What is replaced in each piece of a text: a value that several share is cut where it was cut before. */
const partsOfPieces = (
  pieces: readonly Piece[],
  replacements: Replacements,
): readonly (readonly [JsonLiteral, readonly ReplacedPart[]])[] => {
  const parts = replacements.partsOf(pieces.map(({ text }) => text).join(''));
  let next = 0;
  let start = 0;
  return pieces.map(({ literal, text }) => {
    const end = start + text.length;
    const own: ReplacedPart[] = [];
    while (next < parts.length && (parts[next] as ReplacedPart).start < end) {
      const part = parts[next] as ReplacedPart;
      const [from, to] = [Math.max(part.start, start), Math.min(part.end, end)];
      const isLast = part.end <= end;
      const now = part.now.slice(from - part.start, isLast ? undefined : to - part.start);
      own.push({ start: from - start, end: to - start, now });
      if (!isLast) break;
      next++;
    }
    start = end;
    return [literal, own];
  });
};
