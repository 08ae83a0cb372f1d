/**
 * JSON text of a value as the API sends it: integers of any size (`bigint`) as bare digits, bytes as lower-case hex,
 * absent values left out, keys in the order given.
 */
export const toWireJson = (value: unknown): string => {
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

const list = (items: readonly unknown[]): string => `[${items.map(toWireJson).join(',')}]`;

const object = (value: Readonly<Record<string, unknown>>): string => {
  const pairs: string[] = [];
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) pairs.push(`${JSON.stringify(key)}:${toWireJson(item)}`);
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
