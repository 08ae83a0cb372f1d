import { isForbiddenKey, MAX_DEPTH, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { LineCounter, parseDocument, type ScalarTag, type Tags } from 'yaml';

/** The most UTF-16 units of a YAML document, which is held in memory whole. */
export const MAX_YAML = 64 * 1024 * 1024;

/** So many times may a document repeat what it named once. */
const MAX_ALIASES = 100;

/**
 * True if a text whose first line that is not blank is this one can only be YAML: no JSON document begins like that. Only files whose
 * first line is a mapping of recorded traffic, or a mark of YAML, are taken for it.
 */
export const isYamlLine = (line: string): boolean =>
  /^(---(\s|$)|%YAML\s|(http_)?interactions:|version:|requests:|responses:|recorded_with:|log:)/.test(line);

/**
 * The value of a YAML document, as JSON has it. Dates stay texts, and `!!binary` is `{"base64_string": "…"}`. Scalars are read as Python
 * and Ruby, which write cassettes, read them.
 *
 * @throws E_INPUT_NOT_JSON with the line, E_INPUT_TOO_LARGE, E_INPUT_TOO_DEEP, E_INPUT_FORBIDDEN_KEY, E_INPUT_REPEATED_KEY
 */
export const parseYaml = (text: string, name: string): WideJson => {
  if (text.length > MAX_YAML) throw tooLarge(name);
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, {
      schema: 'failsafe',
      customTags: (tags) => [...tags, ...SCALARS],
      merge: true,
      logLevel: 'silent',
      prettyErrors: false,
      lineCounter: lines,
    });
    const [error] = document.errors;
    if (error !== undefined) {
      if (error.code === 'RESOURCE_EXHAUSTION') throw tooDeep(name);
      const { line } = lines.linePos(error.pos[0]);
      const code = error.code === 'DUPLICATE_KEY' ? 'E_INPUT_REPEATED_KEY' : 'E_INPUT_NOT_JSON';
      throw fail(
        code,
        `${name} is neither JSON nor YAML: line ${line}, ${error.message.split('\n')[0] ?? ''}`,
      );
    }
    return openConverter(name)(document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES }), 0);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(name);
    if (error instanceof ReferenceError)
      throw fail('E_INPUT_TOO_LARGE', `${name} repeats more of itself than ${MAX_ALIASES} times`);
    throw error;
  }
};

export const tooLarge = (name: string): Error =>
  fail('E_INPUT_TOO_LARGE', `${name} is YAML of more than ${MAX_YAML} characters`, { limit: MAX_YAML });

const tooDeep = (name: string): Error =>
  fail('E_INPUT_TOO_DEEP', `${name} is nested deeper than ${MAX_DEPTH} levels`);

/** A scalar that is written without quotes. */
const plain = (name: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag => ({
  default: true,
  tag: `tag:yaml.org,2002:${name}`,
  test,
  resolve,
});

const integer = (text: string): bigint => {
  const digits = text.replace(/[-+_]/g, '');
  const isOctal = /^0[0-7]/.test(digits);
  const value = BigInt(isOctal ? `0o${digits.slice(1)}` : digits);
  return text.startsWith('-') ? -value : value;
};

const binaryTag = (tag: string): ScalarTag => ({
  default: false,
  tag,
  resolve: (text) => new Map([['base64_string', text.replace(/\s/g, '')]]),
});

/** What PyYAML and Psych read as anything but a text: `1e5` and `089` are texts there, as is `y`. */
const SCALARS: Tags = [
  plain('null', /^(?:~|null|Null|NULL)?$/, () => null),
  plain('bool', /^(?:[Yy]es|YES|[Nn]o|NO|[Tt]rue|TRUE|[Ff]alse|FALSE|[Oo]n|ON|[Oo]ff|OFF)$/, (text) =>
    /^(y|t|on$)/i.test(text),
  ),
  plain('int', /^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)$/, integer),
  plain('float', /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?$/, (text) =>
    Number(text.replaceAll('_', '')),
  ),
  binaryTag('tag:yaml.org,2002:binary'),
  binaryTag('!binary'),
];

/** What the library gives as JSON; what is the same twice is converted once. */
const openConverter = (name: string): ((value: unknown, depth: number) => WideJson) => {
  const known = new Map<object, WideJson>();
  const convert = (value: unknown, depth: number): WideJson => {
    if (depth > MAX_DEPTH) throw tooDeep(name);
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    if (typeof value === 'number') {
      if (Number.isFinite(value)) return value;
      throw fail('E_INPUT_NUMBER', `${name} holds a number that JSON does not have`);
    }
    if (typeof value === 'string') {
      if (value.isWellFormed()) return value;
      throw fail('E_INPUT_SURROGATE', `${name} holds an unpaired surrogate`);
    }
    if (typeof value === 'boolean') return value;
    if (typeof value !== 'object' || value === null) return null;
    const before = known.get(value);
    if (before !== undefined) return before;
    const made = Array.isArray(value)
      ? value.map((item: unknown) => convert(item, depth + 1))
      : value instanceof Map
        ? fromMap(value, depth)
        : null;
    if (made !== null) known.set(value, made);
    return made;
  };
  const fromMap = (map: ReadonlyMap<unknown, unknown>, depth: number): WideJson => {
    const entries = [...map].map(([key, value]): [string, WideJson] => {
      const text = keyOf(key, name);
      if (isForbiddenKey(text))
        throw fail('E_INPUT_FORBIDDEN_KEY', `${name} holds an object with the key ${text}`);
      return [text, convert(value, depth + 1)];
    });
    return Object.fromEntries(entries);
  };
  return convert;
};

const keyOf = (key: unknown, name: string): string => {
  if (typeof key === 'string') return key;
  if (key === null || typeof key === 'boolean') return String(key);
  if (typeof key === 'number' || typeof key === 'bigint') return String(key);
  throw fail('E_INPUT_SHAPE', `${name} holds a mapping whose key is no text`);
};
