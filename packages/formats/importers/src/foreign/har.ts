import { isJsonObject, joinBytes, parseJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import {
  bytesOfBase64,
  durationOf,
  isList,
  listOf,
  nonEmpty,
  objectOf,
  textOf,
  timeOf,
  type Field,
} from './fields.ts';
import { headerReader } from './http-headers.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';
import { itemOfPair, type RecordedBytes } from './recorded-traffic.ts';

/** HTTP archives: `{log: {version, creator, entries: [{startedDateTime, time, request, response}]}}`. */
export const har: ForeignReader = {
  name: 'har',
  mapping: 'har@2',
  summary: 'HTTP archives of browsers, proxies and mitmproxy: one document with log.entries',
  versions:
    'HAR 1.1 and 1.2 (http://www.softwareishard.com/blog/har-12-spec), with _webSocketMessages counted',
  recognises: (first) => isHar(first) && !isPolly(first),
  read: (units) => readEntries(units),
};

/** Recordings of Polly.js: HTTP archives whose bodies of bytes are lists of chunks in a text. */
export const polly: ForeignReader = {
  name: 'polly',
  mapping: 'polly@2',
  summary: 'recordings of Polly.js: recording.har',
  versions: 'Polly.js 1 to 6 (chunks in hex and in base64)',
  recognises: (first) => isHar(first) && isPolly(first),
  read: (units) => readEntries(units),
};

const logOf = (value: WideJson): WideJsonObject => objectOf(objectOf(value)['log']);

const isHar = (value: WideJson): boolean => {
  const { entries, creator, version } = logOf(value);
  return isList(entries) && (isJsonObject(creator) || typeof version === 'string');
};

const isPolly = (value: WideJson): boolean => {
  const { creator, _recordingName: name } = logOf(value);
  return objectOf(creator)['name'] === 'Polly.JS' || typeof name === 'string';
};

async function* readEntries(units: Parameters<ForeignReader['read']>[0]): AsyncIterable<ForeignItem> {
  for await (const { value, where, fault } of units) {
    if (fault !== undefined) throw fault;
    const { entries, creator } = logOf(value);
    if (!isList(entries)) throw fail('E_INPUT_SHAPE', `${where} has no log.entries`);
    const { name, version } = objectOf(creator);
    const program = [nonEmpty(name), nonEmpty(version)].filter((each) => each !== undefined).join(' ');
    if (program !== '') yield { kind: 'version', version: program };
    for (const [index, entry] of entries.entries()) yield* itemsOf(entry, index);
  }
}

function* itemsOf(entry: WideJson, index: number): Iterable<ForeignItem> {
  const { request, response, startedDateTime, time, timings, _webSocketMessages: frames } = objectOf(entry);
  if (isList(frames) && frames.length > 0)
    yield { kind: 'dropped', what: 'websocket message', count: frames.length };
  if (!isJsonObject(request) || textOf(request['method']) === undefined) {
    yield { kind: 'dropped', what: 'entry without a request' };
    return;
  }
  const got = responseOf(response);
  if (got === 'damaged') yield { kind: 'warning', code: 'W_VALUE_UNREAD', where: `entry ${index}` };
  if (got !== null && got !== 'damaged' && got.body.length === 0 && sizeOf(response) > 0)
    yield { kind: 'warning', code: 'W_CONTENT_LOST', where: `entry ${index}` };
  const { send, wait } = objectOf(timings);
  const toFirst = durationOf(wait);
  yield itemOfPair({
    id: `e${index}`,
    at: timeOf(startedDateTime),
    durationMs: durationOf(time),
    firstByteMs: toFirst === null ? null : toFirst + (durationOf(send) ?? 0),
    method: textOf(request['method']) ?? '',
    url: textOf(request['url']) ?? '',
    request: requestOf(request),
    response: got === 'damaged' ? null : got,
  });
}

const sizeOf = (response: Field): number => {
  const { size } = objectOf(objectOf(response)['content']);
  return typeof size === 'number' ? size : 0;
};

/** The text that was posted; `_content` and `encoding: base64` are how some programs write bytes. */
const requestOf = (request: WideJsonObject): RecordedBytes | null => {
  const { mimeType, text, encoding } = objectOf(request['postData']);
  const contentType = headerReader(request['headers'])('content-type') ?? nonEmpty(mimeType) ?? null;
  if (typeof text !== 'string') return null;
  const bytes = encoding === 'base64' ? bytesOfBase64(text) : new TextEncoder().encode(text);
  if (bytes === undefined) return null;
  const coding = headerReader(request['headers'])('content-encoding');
  return { contentType, coding: isGzip(bytes) ? coding : null, body: bytes, isExact: true };
};

const responseOf = (
  response: Field,
): (RecordedBytes & { readonly httpStatus: number }) | null | 'damaged' => {
  const { status, content, headers } = objectOf(response);
  if (typeof status !== 'number' || status < 100 || status > 999) return null;
  const header = headerReader(headers);
  const { mimeType, text = '', encoding, _isBinary: isBinary } = objectOf(content);
  const contentType = header('content-type') ?? nonEmpty(mimeType) ?? null;
  if (typeof text !== 'string') return 'damaged';
  const bytes =
    encoding === 'base64' || isBinary === true
      ? (bytesOfChunks(text, encoding === 'base64') ?? bytesOfBase64(text))
      : new TextEncoder().encode(text);
  if (bytes === undefined) return 'damaged';
  // An archive has bodies decoded, whatever the header says; only bytes can be as they came.
  const coding = encoding === 'base64' || isBinary === true ? header('content-encoding') : null;
  const isCoded = coding !== null && (isGzip(bytes) || !/gzip/i.test(coding)) && !isText(bytes);
  return {
    httpStatus: Math.trunc(status),
    contentType,
    coding: isCoded ? coding : null,
    body: bytes,
    isExact: true,
  };
};

/** The bytes of `["1f8b…", "…"]`, chunks in hex or base64; undefined: the text is no such list. */
const bytesOfChunks = (text: string, isBase64: boolean): Uint8Array | undefined => {
  if (!text.startsWith('[')) return undefined;
  const parsed = chunksIn(text);
  if (parsed === undefined) return undefined;
  const chunks = parsed.map((chunk) => (isBase64 ? bytesOfBase64(chunk) : bytesOfHex(chunk)));
  const known = chunks.filter((chunk) => chunk !== undefined);
  return known.length === chunks.length ? joinBytes(known) : undefined;
};

const chunksIn = (text: string): readonly string[] | undefined => {
  try {
    const items = listOf(parseJson(text, 'the body'));
    const texts = items.filter((item) => typeof item === 'string');
    return texts.length === items.length ? texts : undefined;
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return undefined;
  }
};

const bytesOfHex = (text: string): Uint8Array | undefined =>
  /^([0-9a-f]{2})*$/i.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : undefined;

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

const isText = (bytes: Uint8Array): boolean =>
  /^(\{|\[|data:|event:)/.test(new TextDecoder().decode(bytes.subarray(0, 16)).trimStart());
