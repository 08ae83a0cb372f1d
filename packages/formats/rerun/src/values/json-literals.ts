import type { ReplacedPart, Replacements } from './bindings.ts';

/** A string or a number in the text of JSON. */
export type JsonLiteral = {
  readonly kind: 'key' | 'string' | 'number';
  /** Where it stands, with its quotation marks. */
  readonly start: number;
  readonly end: number;
  readonly within: JsonFrame;
  /** The key or the number under which it stands in `within`; of a key that key. */
  readonly name: string;
};

/** An object or a list that a literal stands in. */
export type JsonFrame = {
  readonly isObject: boolean;
  readonly outer: JsonFrame | null;
  readonly name: string;
  /** The value of its `type`. */
  type: string | null;
};

/** What stands in such an object has been signed or encrypted by a provider, or its signature covers it. */
const SEALED_TYPE = /^(?:redacted_)?thinking|^signature_delta$|^reasoning|^response\.reasoning/;

/** Fields that a provider has encrypted, wherever they stand. */
const SEALED_FIELDS: ReadonlySet<string> = new Set([
  'encrypted_content',
  'signature',
  'thinking_signature',
  'thoughtSignature',
  'reasoningContent',
]);

/** Whether what a field says stays as it is, in whatever object. */
export const isSealedField = (name: string): boolean => SEALED_FIELDS.has(name);

/** Whether all that an object of this type says stays as it is. */
export const isSealedType = (type: unknown): boolean => typeof type === 'string' && SEALED_TYPE.test(type);

/** A string that does not end goes on to the end of the text, so no text is gone through twice. */
const LITERAL = /[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|-?\d[\d.eE+-]*/gs;

/** The literals of a text that begins as JSON, up to where it ends or is no JSON any more. */
export const jsonLiterals = (text: string): readonly JsonLiteral[] => {
  const found: JsonLiteral[] = [];
  let frame: JsonFrame = { isObject: false, outer: null, name: '', type: null };
  let name = '';
  let isKey = false;
  let items = 0;
  const counts: number[] = [];
  for (const { 0: piece, index: start } of text.matchAll(LITERAL)) {
    const end = start + piece.length;
    if (piece === '{' || piece === '[') {
      frame = { isObject: piece === '{', outer: frame, name, type: null };
      counts.push(items);
      items = 0;
      isKey = frame.isObject;
      name = '0';
    } else if (piece === '}' || piece === ']') {
      if (frame.outer === null) break;
      frame = frame.outer;
      items = counts.pop() ?? 0;
      isKey = false;
    } else if (piece === ',') {
      items++;
      isKey = frame.isObject;
      name = String(items);
    } else if (piece === ':') isKey = false;
    else if (piece.startsWith('"')) {
      if (piece.length === 1 || !piece.endsWith('"')) break;
      if (isKey) name = decoded(piece);
      else if (name === 'type' && frame.isObject) frame.type = decoded(piece);
      found.push({ kind: isKey ? 'key' : 'string', start, end, within: frame, name });
    } else found.push({ kind: 'number', start, end, within: frame, name });
  }
  return found;
};

/** The text that a literal stands for; empty if it is none. */
export const decoded = (raw: string): string => {
  try {
    return JSON.parse(raw) as string;
  } catch {
    return '';
  }
};

/** Where a literal stands: `choices.0.delta.content`. */
export const pathOf = ({ within, name }: JsonLiteral): string => {
  const names = [name];
  for (let frame = within; frame.outer !== null; frame = frame.outer) names.push(frame.name);
  // The outermost value has no name.
  if (names.length > 1) names.pop();
  return names.reverse().join('.');
};

/** True if the literal is in something that stays to the byte. */
export const isInSealed = ({ within, name, kind }: JsonLiteral): boolean => {
  if (kind !== 'key' && isSealedField(name)) return true;
  for (let frame: JsonFrame | null = within; frame !== null; frame = frame.outer)
    if (isSealedType(frame.type) || isSealedField(frame.name)) return true;
  return false;
};

/** A literal with parts of its text replaced; every other character stays as it is written. */
export const withRawParts = (raw: string, parts: readonly ReplacedPart[]): string => {
  if (parts.length === 0) return raw;
  const at = rawPlaces(raw);
  let text = '';
  let done = 0;
  for (const { start, end, now } of parts) {
    text += raw.slice(done, at(start)) + JSON.stringify(now).slice(1, -1);
    done = at(end);
  }
  return text + raw.slice(done);
};

/** Where each character of a text stands in its literal. */
const rawPlaces = (raw: string): ((index: number) => number) => {
  if (!raw.includes('\\')) return (index) => index + 1;
  const places: number[] = [];
  for (let at = 1; at < raw.length - 1; at += raw[at] !== '\\' ? 1 : raw[at + 1] === 'u' ? 6 : 2)
    places.push(at);
  places.push(raw.length - 1);
  return (index) => places[index] ?? raw.length - 1;
};

/** Smaller numbers are no times. */
const LEAST_EPOCH = 1_000_000_000;

/** The text of a number that stands for another one, such as the seconds of a time. */
export const replacedNumber = (text: string, { partsOf }: Replacements): string => {
  if (!(Number(text) >= LEAST_EPOCH)) return text;
  const [part] = partsOf(text);
  const isWhole = part?.start === 0 && part.end === text.length && /^\d+(?:\.\d+)?$/.test(part.now);
  return isWhole ? part.now : text;
};

/** The text of JSON with values replaced in it, outside of what is sealed. */
export const replaceInJson = (
  text: string,
  replacements: Replacements,
  literals: readonly JsonLiteral[] = jsonLiterals(text),
): string => {
  let replaced = '';
  let done = 0;
  for (const literal of literals) {
    const { kind, start, end } = literal;
    if (isInSealed(literal)) continue;
    const raw = text.slice(start, end);
    const now =
      kind === 'number'
        ? replacedNumber(raw, replacements)
        : withRawParts(raw, replacements.partsOf(decoded(raw)));
    replaced += text.slice(done, start) + now;
    done = end;
  }
  return replaced + text.slice(done);
};
