import {
  canonicalJson,
  isForbiddenKey,
  isJsonObject,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { fail, type ErrorCode } from '@stemma/errors';
import { isHeaderName } from './header-names.ts';
import { canonicalType, type CanonicalType } from './node-type.ts';
import type { Headers, Payload } from './node.ts';

/** The greatest depth of an attribute's value: with {@link MAX_LEVELS} containers an export can still be read. */
const MAX_VALUE_DEPTH = 300;
const MAX_ID_BYTES = 512;

/** The headers that the input of a node may set. */
export type GivenHeaders = Omit<Headers, 'id' | 'cycle' | 'created_at_ns' | 'creation_index'>;

/** The checked fields of an untrusted node, without its children. */
export type NodeInput = {
  readonly id: string | undefined;
  readonly type: CanonicalType;
  readonly headers: GivenHeaders;
  readonly payload: Payload;
  readonly children: readonly WideJson[];
};

/** How an input error is reported: its code, and the words that name the node. */
export type InputErrorContext = { readonly code: ErrorCode; readonly what: string };

/** A valid id. @throws E_KEY_TOO_LONG, or the given code */
export const checkId = (value: WideJson | undefined, blame: InputErrorContext): string => {
  if (typeof value !== 'string' || value === '')
    throw fail(blame.code, `${blame.what}: the id is a text that is not empty`);
  if (value.length > MAX_ID_BYTES || Buffer.byteLength(value) > MAX_ID_BYTES)
    throw fail('E_KEY_TOO_LONG', `${blame.what}: the id has more than ${MAX_ID_BYTES} bytes`);
  if (!value.isWellFormed())
    throw fail('E_INPUT_SURROGATE', `${blame.what}: the id holds an unpaired surrogate`);
  return value;
};

/**
 * The node that an untrusted object describes (context-tree §2, §10.2, §10.8): its type, the given headers, and its
 * attributes. `cycle`, times and `content_hash` are ignored.
 *
 * @throws the context's code, E_KEY_TOO_LONG, E_INPUT_NUMBER, E_INPUT_TOO_DEEP, E_INPUT_FORBIDDEN_KEY,
 *   E_INPUT_SURROGATE.
 */
export const parseNodeInput = (value: WideJson, blame: InputErrorContext): NodeInput => {
  if (!isJsonObject(value)) throw fail(blame.code, `${blame.what} is not an object`);
  const id = value['id'] === undefined ? undefined : checkId(value['id'], blame);
  const named: InputErrorContext = id === undefined ? blame : { code: blame.code, what: id };
  const { nodeType } = value;
  const type = typeof nodeType === 'string' ? canonicalType(nodeType) : undefined;
  if (type === undefined || typeof nodeType !== 'string')
    throw fail(
      named.code,
      `${named.what}: the nodeType is mt, mc, cb or a name with a prefix such as cb:summary`,
    );
  const block = type === 'cb';
  for (const refused of block ? ['children', 'removable'] : ['content'])
    if (value[refused] !== undefined)
      throw fail(named.code, `${named.what} is a ${block ? 'block' : 'container'}: it has no ${refused}`);
  const { children = [] } = value;
  if (!Array.isArray(children)) throw fail(named.code, `${named.what}: children is not a list`);
  return {
    id,
    type,
    headers: givenHeaders(value, nodeType, named),
    payload: payloadOf(value, named),
    children: children as WideJson[],
  };
};

/** The given headers, each checked for its type; optional ones that are absent stay absent. */
export const givenHeaders = (
  value: WideJsonObject,
  nodeType: string,
  blame: InputErrorContext,
): GivenHeaders => {
  const headers: { -readonly [name in keyof GivenHeaders]: GivenHeaders[name] } = {
    nodeType,
    offset: integer(value['offset'], 0, 'offset', blame),
    ttl: value['ttl'] === undefined || value['ttl'] === null ? null : natural(value['ttl'], 0, 'ttl', blame),
    priority: priorityOf(value['priority'], blame),
  };
  for (const name of ['role', 'kind', 'key'] as const) {
    const text = value[name];
    if (text === undefined) continue;
    if (text !== null && typeof text !== 'string')
      throw fail(blame.code, `${blame.what}: ${name} is a text or null`);
    checkValue(text, name, blame);
    headers[name] = text;
  }
  const { removable, refs, provenance } = value;
  if (removable !== undefined) {
    if (removable !== null && typeof removable !== 'boolean')
      throw fail(blame.code, `${blame.what}: removable is true, false or null`);
    headers.removable = removable;
  }
  if (refs !== undefined) {
    if (refs !== null && !(Array.isArray(refs) && refs.every((ref) => typeof ref === 'string')))
      throw fail(blame.code, `${blame.what}: refs is a list of ids`);
    checkValue(refs, 'refs', blame);
    headers.refs = refs;
  }
  if (provenance !== undefined) headers.provenance = checkValue(provenance, 'provenance', blame);
  return headers;
};

/** Content and all attributes that are not headers. */
export const payloadOf = (value: WideJsonObject, blame: InputErrorContext): Payload => {
  const payload: Record<string, WideJson> = {};
  for (const name of Object.keys(value)) {
    if (isHeaderName(name) || name === 'children') continue;
    if (isForbiddenKey(name)) throw fail('E_INPUT_FORBIDDEN_KEY', `${blame.what} has the attribute ${name}`);
    payload[name] = checkValue(value[name] as WideJson, name, blame);
  }
  return payload;
};

/** A valid value of content or an attribute, unchanged: JSON with exact integers, not too deep. */
export const checkValue = (value: WideJson, name: string, blame: InputErrorContext): WideJson => {
  if (typeof value === 'string') {
    if (!value.isWellFormed())
      throw fail('E_INPUT_SURROGATE', `${blame.what}: ${name} holds an unpaired surrogate`);
    return value;
  }
  checkDeep(value, name, blame, 0);
  return value;
};

const checkDeep = (value: WideJson, name: string, blame: InputErrorContext, depth: number): void => {
  if (depth > MAX_VALUE_DEPTH)
    throw fail('E_INPUT_TOO_DEEP', `${blame.what}: ${name} is nested more than ${MAX_VALUE_DEPTH} deep`);
  if (typeof value === 'bigint')
    throw fail('E_INPUT_NUMBER', `${blame.what}: ${name} holds the integer ${value.toString()}`);
  if (typeof value !== 'object' || value === null) canonicalJson(value);
  else if (Array.isArray(value))
    for (const item of value as readonly WideJson[]) checkDeep(item, name, blame, depth + 1);
  else
    for (const [key, item] of Object.entries(value as WideJsonObject)) {
      if (isForbiddenKey(key))
        throw fail('E_INPUT_FORBIDDEN_KEY', `${blame.what}: ${name} holds an object with the key ${key}`);
      if (!key.isWellFormed())
        throw fail('E_INPUT_SURROGATE', `${blame.what}: ${name} holds a key with an unpaired surrogate`);
      checkDeep(item, name, blame, depth + 1);
    }
};

/** A safe integer. */
export const integer = (
  value: WideJson | undefined,
  missing: number,
  name: string,
  blame: InputErrorContext,
): number => {
  if (value === undefined) return missing;
  if (!Number.isSafeInteger(value)) throw fail(blame.code, `${blame.what}: ${name} is an integer`);
  return value === 0 ? 0 : (value as number);
};

/** A safe integer from 0. */
export const natural = (
  value: WideJson | undefined,
  missing: number,
  name: string,
  blame: InputErrorContext,
): number => {
  const number = integer(value, missing, name, blame);
  if (number < 0) throw fail(blame.code, `${blame.what}: ${name} is 0 or more, not ${number}`);
  return number;
};

/** A priority: any finite number, -0 being 0. */
export const priorityOf = (value: WideJson | undefined, blame: InputErrorContext): number => {
  if (value === undefined) return 0;
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw fail(blame.code, `${blame.what}: priority is a number`);
  return value === 0 ? 0 : value;
};
