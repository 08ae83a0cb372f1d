import { isJsonObject, parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, reasonOf } from '@stemma/errors';
import protobuf from 'protobufjs/light.js';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { OTLP_DESCRIPTOR } from './otlp-descriptor.ts';

export const PROTOBUF = 'application/x-protobuf';

/** The most bytes of a request, decompressed. */
const MOST_BYTES = 64 * 1024 * 1024;

const request = protobuf.Root.fromJSON(OTLP_DESCRIPTOR).lookupType('ExportTraceServiceRequest');

const decompress = promisify(gunzip);

/**
 * The body of a request of OTLP as its JSON has it, from JSON or protobuf, compressed with gzip or not.
 *
 * @param headers `content-type` and `content-encoding`
 * @throws E_USAGE for another type or coding, E_INPUT_TOO_LARGE, E_INPUT_NOT_JSON, E_INPUT_SHAPE …
 */
export const readTraces = async (
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>>,
): Promise<WideJson> => {
  const plain = await plainOf(bytes, headers['content-encoding'] ?? 'identity');
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return parseWideJson(utf8(plain), 'the request');
  if (type === PROTOBUF) return withHexIds(ofProtobuf(plain));
  throw fail('E_USAGE', `traces are ${PROTOBUF} or application/json`);
};

const plainOf = async (bytes: Uint8Array, coding: string): Promise<Uint8Array> => {
  if (coding === 'identity' || coding === '') return bytes;
  if (coding.toLowerCase() !== 'gzip')
    throw fail('E_USAGE', 'the request has another content-encoding than gzip');
  try {
    return await decompress(bytes, { maxOutputLength: MOST_BYTES });
  } catch (error) {
    if (error instanceof RangeError)
      throw fail('E_INPUT_TOO_LARGE', `the request has more than ${MOST_BYTES} bytes`, { limit: MOST_BYTES });
    throw fail('E_INPUT_SHAPE', `the request is not gzip: ${reasonOf(error)}`);
  }
};

const utf8 = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fail('E_INPUT_NOT_JSON', 'the request is not UTF-8');
  }
};

/** Numbers of 64 bits are texts, and bytes base64, as in the JSON of protobuf. */
const ofProtobuf = (bytes: Uint8Array): WideJson => {
  let text: string;
  try {
    text = JSON.stringify(request.toObject(request.decode(bytes), { longs: String, bytes: String }));
  } catch (error) {
    throw fail('E_INPUT_SHAPE', `the request is no traces of OTLP: ${reasonOf(error)}`);
  }
  return parseWideJson(text, 'the request');
};

/** The JSON of OTLP has ids in hex. */
const withHexIds = (value: WideJson): WideJson =>
  mapList(value, 'resourceSpans', (resource) =>
    mapList(resource, 'scopeSpans', (scope) =>
      mapList(scope, 'spans', (span) =>
        isJsonObject(span)
          ? { ...span, ...hexOf(span, 'traceId'), ...hexOf(span, 'spanId'), ...hexOf(span, 'parentSpanId') }
          : span,
      ),
    ),
  );

const hexOf = (span: WideJsonObject, name: string): WideJsonObject => {
  const { [name]: id } = span;
  return typeof id === 'string' ? { [name]: Buffer.from(id, 'base64').toString('hex') } : {};
};

const mapList = (value: WideJson, name: string, map: (item: WideJson) => WideJson): WideJson => {
  if (!isJsonObject(value) || !Array.isArray(value[name])) return value;
  return { ...value, [name]: (value[name] as readonly WideJson[]).map(map) };
};
