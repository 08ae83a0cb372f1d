import { joinBytes } from '@stemma/canonical';
import type { ModelApi } from '@stemma/model-apis';
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
export const replaceInStream = (api: ModelApi, bytes: Uint8Array, replacements: Replacements): Uint8Array => {
  const whole = endOfLines(bytes);
  const text = textOf(bytes.subarray(0, whole));
  if (text === null) return bytes;
  const lines = text.split(/(?<=\n|\r(?!\n))/).map(lineOf);
  const blocks = openBlocks(api);
  for (const { text: line, data } of lines) if (data !== null) blocks.add(line.slice(data.at), data.literals);
  const parts = blocks.parts(replacements);
  const replaced = lines.map(({ text: line, data }) =>
    data === null
      ? line
      : line.slice(0, data.at) + withPieces(line.slice(data.at), data.literals, parts, replacements),
  );
  return joinBytes([new TextEncoder().encode(replaced.join('')), bytes.subarray(whole)]);
};

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

const lineOf = (text: string): Line => {
  const start = /^\uFEFF?data: ?(?=[[{])/.exec(text);
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
  const blockOf =
    api === 'openai.chat' ? openChatBlocks() : api === 'anthropic.messages' ? anthropicBlock : responsesBlock;
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

/** Which block a string of an event belongs to; null: it is one by itself. @param valueAt what stands at a path of the event */
type BlockOf = (path: string, valueAt: (path: string) => string | null) => string | null;

const CHAT_TEXT =
  /^(choices\.\d+)\.delta\.(content|refusal|reasoning|reasoning_content|function_call\.arguments)$/;
const CHAT_CALL = /^(choices\.\d+)\.(delta\.tool_calls\.\d+)\.(?:function\.arguments|custom\.input)$/;

/** A delta without an index belongs to the last call, unless it has a new id. */
const openChatBlocks = (): BlockOf => {
  let last = { index: 0, id: '' };
  return (path, valueAt) => {
    const text = CHAT_TEXT.exec(path);
    if (text !== null) return `${valueAt(`${text[1] ?? ''}.index`) ?? '0'} ${text[2] ?? ''}`;
    const call = CHAT_CALL.exec(path);
    if (call === null) return null;
    const delta = `${call[1] ?? ''}.${call[2] ?? ''}`;
    const id = valueAt(`${delta}.id`) ?? '';
    const index = valueAt(`${delta}.index`);
    if (index !== null) last = { index: Number(index), id };
    else if (id !== '' && id !== last.id) last = { index: last.index + (last.id === '' ? 0 : 1), id };
    return `${valueAt(`${call[1] ?? ''}.index`) ?? '0'} call ${last.index}`;
  };
};

const anthropicBlock: BlockOf = (path, valueAt) => {
  const isText = path === 'delta.text' || path === 'content_block.text';
  if (!isText && path !== 'delta.partial_json') return null;
  return `${valueAt('index') ?? ''} ${isText ? 'text' : 'input'}`;
};

const responsesBlock: BlockOf = (path, valueAt) => {
  if (path !== 'delta') return null;
  const places = ['type', 'output_index', 'content_index', 'summary_index'].map(
    (name) => valueAt(name) ?? '',
  );
  return places.join(' ');
};
