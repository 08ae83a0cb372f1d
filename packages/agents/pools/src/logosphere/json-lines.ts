import { canonicalJson, compareCodePoints, isJsonObject, type WideJson } from '@stemma/canonical';

/**
 * How a program wrote a JSON text: Python's `json.dumps` with or without escapes (`python`, `python-utf8`), without spaces (`compact`), or
 * indented by so many spaces (`indent-2`, `indent-2-utf8`).
 */
export type JsonForm = string;

/** What Logosphere writes lines and documents in. */
export const LINE_FORM = 'python';
export const DOCUMENT_FORM = 'indent-2';

const LINE_FORMS: readonly JsonForm[] = ['python', 'python-utf8', 'compact'];
const DOCUMENT_FORMS: readonly JsonForm[] = [
  ...[2, 4, 1, 3, 8].flatMap((spaces) => [`indent-${spaces}`, `indent-${spaces}-utf8`]),
  ...LINE_FORMS,
];

/**
 * The keys of a value in their order, which records do not keep: an object's as texts, or as pairs with the order of what they hold, and a
 * list's items by their numbers.
 */
export type KeyOrder = readonly WideJson[];

/** How the keys of objects in a value stand in each other's order. */
export const orderOf = (value: WideJson): KeyOrder => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as { readonly [key: string]: WideJson }).flatMap(([key, inner]): WideJson[] => {
    const order = orderOf(inner);
    if (order.length > 0) return [[key, [...order]]];
    return Array.isArray(value) ? [] : [key];
  });
};

/** The value with its keys in this order, those that it does not name behind them by their code points. */
export const inOrder = (value: WideJson, order: WideJson | undefined): WideJson => {
  if (typeof value !== 'object' || value === null) return value;
  const inner = new Map<string, WideJson | undefined>();
  for (const entry of Array.isArray(order) ? (order as readonly WideJson[]) : []) {
    const [key, rest] = (Array.isArray(entry) ? entry : [entry]) as readonly WideJson[];
    if (typeof key === 'string') inner.set(key, rest);
  }
  if (Array.isArray(value))
    return (value as readonly WideJson[]).map((item, i) => inOrder(item, inner.get(String(i))));
  const own = value as { readonly [key: string]: WideJson };
  const keys = [...inner.keys()].filter((key) => Object.hasOwn(own, key));
  const others = Object.keys(own)
    .filter((key) => !inner.has(key))
    .sort(compareCodePoints);
  return Object.fromEntries(
    [...keys, ...others].map((key) => [key, inOrder(own[key] as WideJson, inner.get(key))]),
  );
};

/** The JSON text of a value as such a program writes it, its keys in the order that they have. */
export const writtenAs = (value: WideJson, form: JsonForm): string => {
  const isUtf8 = form === 'compact' || form.endsWith('-utf8');
  const indent = Number(/^indent-(\d)/.exec(form)?.[1] ?? 0);
  const [comma, colon] = form === 'compact' ? [',', ':'] : [indent > 0 ? ',' : ', ', ': '];
  const textOf = (text: string): string =>
    isUtf8
      ? JSON.stringify(text)
      : JSON.stringify(text).replace(
          /[\u007f-\uffff]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
  const write = (item: WideJson, depth: number): string => {
    if (typeof item === 'string') return textOf(item);
    if (typeof item !== 'object' || item === null) return canonicalJson(item);
    const isObject = isJsonObject(item);
    const inner = Object.entries(item as { readonly [key: string]: WideJson }).map(([key, one]) =>
      isObject ? `${textOf(key)}${colon}${write(one, depth + 1)}` : write(one, depth + 1),
    );
    const [open, close] = isObject ? '{}' : '[]';
    if (inner.length === 0 || indent === 0) return `${open}${inner.join(comma)}${close}`;
    const line = (level: number): string => `\n${' '.repeat(indent * level)}`;
    return `${open}${line(depth + 1)}${inner.join(`${comma}${line(depth + 1)}`)}${line(depth)}${close}`;
  };
  return write(value, 0);
};

/** The form that writes the value as this text; null: none of them does. */
export const formOf = (text: string, value: WideJson, what: 'line' | 'document'): JsonForm | null =>
  (what === 'line' ? LINE_FORMS : DOCUMENT_FORMS).find((form) => writtenAs(value, form) === text.trim()) ??
  null;
