import { expect, invalid, peek, skipSpace, take, takeMatch, type Scanner } from './scanner.ts';
import { OPERATORS, type Attribute, type SelectorValue } from './syntax.ts';

// Context-tree §10.31: ASCII; a letter or `_`, then letters, digits, `_`, `-`.
const KEY = /[A-Za-z_][A-Za-z0-9_-]*/y;
// A JSON number, and nothing that could go on as a word.
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y;
const WORD = /(?:null|true|false)(?![\w.+-])/y;

/** Reads `[key]` or `[key op value]`, the bracket included. */
export const parseAttribute = (scanner: Scanner): Attribute => {
  expect(scanner, '[', 'before an attribute');
  const attribute = parseInside(scanner);
  expect(scanner, ']', 'to close the attribute');
  return attribute;
};

/** Reads `(key op value, key …)`: the same as a run of brackets (context-tree §6: grammar). */
export const parseAttributeGroup = (scanner: Scanner): readonly Attribute[] => {
  expect(scanner, '(', 'before attributes');
  const attributes = [parseInside(scanner)];
  while (!take(scanner, ')')) {
    const comma = take(scanner, ',');
    if (!comma && !isSpace(scanner.text[scanner.at - 1])) throw invalid(scanner, 'a space, “,” or “)”');
    attributes.push(parseInside(scanner));
  }
  return attributes;
};

const isSpace = (unit: string | undefined): boolean => unit !== undefined && ' \t\r\n'.includes(unit);

const parseInside = (scanner: Scanner): Attribute => {
  skipSpace(scanner);
  const position = scanner.at;
  const key = takeMatch(scanner, KEY);
  if (key === null) throw invalid(scanner, 'the name of an attribute');
  skipSpace(scanner);
  const op = OPERATORS.find((word) => take(scanner, word));
  if (op === undefined) return { key, op: null, value: null, position };
  skipSpace(scanner);
  const value = op === '*=' ? parseQuoted(scanner) : parseValue(scanner);
  skipSpace(scanner);
  return { key, op, value, position };
};

/** Reads a text in quotes. */
export const parseQuoted = (scanner: Scanner): string => {
  const quote = peek(scanner);
  if (quote === '"' || quote === "'") return parseText(scanner, quote);
  throw invalid(scanner, "a text in quotes ('text')");
};

const parseValue = (scanner: Scanner): SelectorValue => {
  const quote = peek(scanner);
  if (quote === '"' || quote === "'") return parseText(scanner, quote);
  const word = takeMatch(scanner, WORD);
  if (word !== null) return word === 'null' ? null : word === 'true';
  const start = scanner.at;
  const digits = takeMatch(scanner, NUMBER);
  if (digits === null) throw invalid(scanner, "a number, null, true, false or a text in quotes ('text')");
  const value = Number(digits);
  if (!Number.isFinite(value)) throw invalid(scanner, 'a number that fits a double', start);
  return /^-?\d+$/.test(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value + 0;
};

const PLAIN = { "'": /[^'\\]*/y, '"': /[^"\\]*/y } as const;

const parseText = (scanner: Scanner, quote: '"' | "'"): string => {
  const start = scanner.at;
  scanner.at += 1;
  const pieces: string[] = [];
  for (;;) {
    pieces.push(takeMatch(scanner, PLAIN[quote]) ?? '');
    if (take(scanner, quote)) return pieces.join('');
    if (!take(scanner, '\\'))
      throw invalid(scanner, `“${quote}” to close the text that begins at character ${start + 1}`);
    const escaped = peek(scanner);
    if (escaped === '' || !'\\\'"'.includes(escaped))
      throw invalid(scanner, String.raw`\\, \' or \" (there is no other escape)`);
    pieces.push(escaped);
    scanner.at += 1;
  }
};
