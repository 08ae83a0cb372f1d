import { canonicalJson, compareCodePoints, type WideJson } from '@stemma/canonical';
import type { Attribute, SelectorValue } from '@stemma/selectors';

const HEADERS = new Set([
  'id', 'nodeType', 'offset', 'ttl', 'priority', 'cycle', 'born_turn', 'created_at_ns', 'created_at_iso', 'creation_index',
  'role', 'kind', 'key', 'removable', 'refs', 'provenance', 'depth', 'age', 'content_hash',
]); // prettier-ignore

/** Whether a value is what an attribute of a selector asks for. */
export const holds = ({ key, op, value }: Attribute, actual: WideJson): boolean => {
  if (op === null) return actual !== null;
  if (op === '=') return equal(actual, value);
  if (op === '!=') return !equal(actual, value);
  if (op === '*=') return textsIn(actual).some((one) => has(one, String(value)));
  const order = orderOf(actual, value, HEADERS.has(key));
  if (order === null) return false;
  return op === '<' ? order < 0 : op === '<=' ? order <= 0 : op === '>' ? order > 0 : order >= 0;
};

export const has = (text: string, part: string): boolean => part !== '' && text.split(part).length > 1;

export const textsIn = (value: WideJson): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : value !== null && typeof value === 'object'
      ? Object.values(value as object).flatMap((each) => textsIn(each as WideJson))
      : [];

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

const equal = (a: WideJson, b: SelectorValue): boolean => {
  if (a === null || b === null) return a === b;
  if (typeof a === 'object') return false;
  if (isNumber(a) || isNumber(b)) return isNumber(a) && isNumber(b) && !(a < b) && !(a > b);
  return String(a) === String(b);
};

const orderOf = (a: WideJson, b: SelectorValue, header: boolean): number | null => {
  if (a === null || b === null || typeof a === 'object') return null;
  const [x, y] = header ? [isNumber(a) ? a : null, isNumber(b) ? b : null] : [jsonNumber(a), jsonNumber(b)];
  if (x !== null && y !== null) return x < y ? -1 : x > y ? 1 : 0;
  if (header && (x !== null || y !== null)) return null;
  const text = (value: Exclude<WideJson, object>): string =>
    isNumber(value) ? canonicalJson(value) : String(value);
  return compareCodePoints(text(a), text(b));
};

const jsonNumber = (value: WideJson): number | bigint | null => {
  if (isNumber(value)) return value;
  if (typeof value !== 'string' || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return null;
  return /^-?\d+$/.test(value) ? BigInt(value) : Number(value);
};
