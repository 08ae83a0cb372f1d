/**
 * JSON text of a value as the API sends it: integers of any size (`bigint`) as bare digits, bytes as lower-case hex,
 * absent values left out, keys in the order given.
 */
export const toWireJson = (value: unknown): string =>
  isPlain(value) ? JSON.stringify(value) : textOf(value);

/** Whether the engine writes a value as the API sends it: in one go, and without a text for each part of it. */
const isPlain = (value: unknown): boolean => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return !Number.isInteger(value) || Number.isSafeInteger(value);
    case 'object': {
      if (value === null) return true;
      if (Array.isArray(value)) return value.every((item) => item === undefined || isPlain(item));
      if (Object.getPrototypeOf(value) !== Object.prototype || 'toJSON' in value) return false;
      for (const key in value) {
        const item = (value as Readonly<Record<string, unknown>>)[key];
        if (item !== undefined && !isPlain(item)) return false;
      }
      return true;
    }
    default:
      return false;
  }
};

const textOf = (value: unknown): string => {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'object':
      if (value === null) return 'null';
      if (value instanceof Uint8Array) return `"${hex(value)}"`;
      return Array.isArray(value) ? list(value) : object(value as Readonly<Record<string, unknown>>);
    case 'undefined':
      return 'null';
    case 'number':
      // A float beyond ±(2^53−1) is written with an exponent: in digits it would be read as an exact integer.
      return Number.isInteger(value) && !Number.isSafeInteger(value)
        ? value.toExponential()
        : JSON.stringify(value);
    default:
      return JSON.stringify(value);
  }
};

const list = (items: readonly unknown[]): string => `[${items.map(textOf).join(',')}]`;

const object = (value: Readonly<Record<string, unknown>>): string => {
  const pairs: string[] = [];
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) pairs.push(`${JSON.stringify(key)}:${textOf(item)}`);
  return `{${pairs.join(',')}}`;
};

const hex = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
};

/** The value of a JSON text of the API: integers beyond ±(2^53−1) as `bigint`, where the engine shows their digits. */
export const fromWireJson = (text: string): unknown => JSON.parse(text, exact);

const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
};
