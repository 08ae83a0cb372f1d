import { isForbiddenKey, MAX_DEPTH, parseWideJson, type WideJson } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { DecodeError, decode, ExtensionCodec } from '@msgpack/msgpack';

/** Extensions within extensions: a message in a list in a snapshot is two. */
const MOST_NESTED = 64;

/** What a program's object was made with is the third of what stands in an extension, behind its module and its name. */
const OBJECTS = [0, 1, 2, 3, 4, 5] as const;
/** An array of NumPy, whose bytes mean nothing without it. */
const ARRAY = 6;
const SNAPSHOT = 7;

/**
 * The value that a saver of LangGraph stored, as data: of an object the fields that it was made with, of any other thing of a program its
 * arguments. Nothing is called or loaded, whatever the bytes name. A whole channel among deltas is what JavaScript writes for it:
 * `{lc: 2, type: 'delta_snapshot', value}`. Undefined: the form is none that is read (`pickle`, encrypted values).
 *
 * ```
 * msgpack, [ext 5: ['langchain_core.messages.human', 'HumanMessage', {content: 'Hi', type: 'human'}]]
 * gives [{ content: 'Hi', type: 'human' }]
 * ```
 *
 * @throws E_INPUT_SHAPE for bytes that are not of their form, E_INPUT_TOO_DEEP, E_INPUT_FORBIDDEN_KEY and the errors of JSON
 */
export const readTypedValue = (type: string, bytes: Uint8Array): WideJson | undefined => {
  if (type === 'msgpack') return readMsgpack(bytes);
  if (type === 'json') return parseWideJson(new TextDecoder('utf-8').decode(bytes), 'the value');
  if (type === 'null' || type === 'empty') return null;
  if (type === 'bytes' || type === 'bytearray') return asData(bytes, 0);
  return undefined;
};

const readMsgpack = (bytes: Uint8Array): WideJson => {
  let nested = 0;
  const codec = new ExtensionCodec();
  const options = {
    extensionCodec: codec,
    useBigInt64: true,
    mapKeyConverter: (key: unknown): string =>
      typeof key === 'string' ? key : JSON.stringify(asData(key, 0)),
  };
  const inner = (data: Uint8Array): unknown => {
    nested += 1;
    if (nested > MOST_NESTED)
      throw fail('E_INPUT_TOO_DEEP', `a value has more than ${MOST_NESTED} extensions in one another`);
    try {
      return decode(data, options);
    } finally {
      nested -= 1;
    }
  };
  const add = (type: number, read: (data: Uint8Array) => unknown): void =>
    codec.register({ type, encode: () => null, decode: read });
  for (const type of OBJECTS)
    add(type, (data) => {
      const parts = inner(data);
      return Array.isArray(parts) ? parts[2] : null;
    });
  add(ARRAY, () => null);
  add(SNAPSHOT, (data) => ({ lc: 2, type: 'delta_snapshot', value: inner(data) }));
  try {
    return asData(decode(bytes, options), 0);
  } catch (error) {
    if (isStemmaError(error)) throw error;
    // What the library says of bytes: it has no error of its own for those that are cut off.
    if (error instanceof DecodeError || error instanceof RangeError || error instanceof TypeError)
      throw fail('E_INPUT_SHAPE', 'a value is no MessagePack, or is cut off');
    throw error;
  }
};

/** JSON of what the library gives. @throws E_INPUT_TOO_DEEP, E_INPUT_FORBIDDEN_KEY */
const asData = (value: unknown, depth: number): WideJson => {
  if (depth > MAX_DEPTH) throw fail('E_INPUT_TOO_DEEP', `a value is more than ${MAX_DEPTH} levels deep`);
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value !== 'object' || value === null) return null;
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map((item) => asData(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (isForbiddenKey(key)) throw fail('E_INPUT_FORBIDDEN_KEY', `an object has the key ${key}`);
      return [key, asData(item, depth + 1)];
    }),
  );
};
