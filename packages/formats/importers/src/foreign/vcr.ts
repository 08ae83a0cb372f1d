import { canonicalJson, isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { bytesOfBase64, isList, listOf, objectOf, textOf, timeOf, type Field } from './fields.ts';
import { headerReader, type HeaderReader } from './http-headers.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';
import { itemOfPair, type RecordedBytes } from './recorded-traffic.ts';

/**
 * Cassettes: `{interactions: [{request: {method, uri, body, headers}, response: {status: {code}, headers, body: {string}}}]}` of
 * VCR.py, `{http_interactions: […], recorded_with}` of VCR for Ruby, `{version, interactions: [{request: {url, …}}]}` of go-vcr, and
 * `{requests: […], responses: […]}`.
 */
export const vcr: ForeignReader = {
  name: 'vcr',
  mapping: 'vcr@2',
  summary: 'cassettes of recorded HTTP (VCR.py, pytest-recording, VCR for Ruby, go-vcr), in YAML or JSON',
  versions:
    'VCR.py 1 to 8 (version: 1; requests and httpx stubs, `parsed_body`, `base64_string`, `!!binary`), VCR for Ruby 2 to 6, go-vcr 1 to 4',
  recognises: (first) => isJsonObject(first) && pairsIn(first).some(isPair),
  async *read(units): AsyncIterable<ForeignItem> {
    let next = 0;
    for await (const { value, where, fault } of units) {
      if (fault !== undefined) throw fault;
      if (!isJsonObject(value)) throw fail('E_INPUT_SHAPE', `${where} is no cassette`);
      const version = textOf(value['recorded_with']) ?? versionOf(value['version']);
      if (version !== undefined) yield { kind: 'version', version };
      for (const pair of pairsIn(value)) yield* itemsOf(pair, next++);
    }
  },
};

const versionOf = (version: Field): string | undefined =>
  typeof version === 'number' ? String(version) : textOf(version);

type Pair = { readonly request: Field; readonly response: Field; readonly at: Field };

const isPair = ({ request, response }: Pair): boolean =>
  isJsonObject(request) &&
  isJsonObject(response) &&
  textOf(request['method']) !== undefined &&
  urlOf(request) !== undefined;

const urlOf = ({ uri, url }: WideJsonObject): string | undefined => textOf(uri) ?? textOf(url);

const pairsIn = (cassette: WideJsonObject): readonly Pair[] => {
  const { interactions, http_interactions, requests, responses } = cassette;
  if (isList(requests) && isList(responses))
    return requests.map((request, index) => ({ request, response: responses[index], at: undefined }));
  return listOf(http_interactions ?? interactions).map((interaction) => {
    const { request, response, recorded_at: at } = objectOf(interaction);
    return { request, response, at };
  });
};

function* itemsOf({ request, response, at }: Pair, index: number): Iterable<ForeignItem> {
  const asked = objectOf(request);
  const method = textOf(asked['method']);
  const url = urlOf(asked);
  if (method === undefined || url === undefined) {
    yield { kind: 'dropped', what: 'interaction without a method and an address' };
    return;
  }
  const answered = objectOf(response);
  const headers = headerReader(answered['headers']);
  const status = statusOf(answered);
  const sent = bytesOf(asked, headerReader(asked['headers']));
  const got = bytesOf(answered, headers);
  for (const side of [sent, got])
    if (side === 'damaged') yield { kind: 'warning', code: 'W_VALUE_UNREAD', where: `interaction ${index}` };
  yield itemOfPair({
    id: `i${index}`,
    at: timeOf(at) ?? timeOf(headers('date') ?? undefined),
    durationMs: secondsOf(answered['duration']),
    method,
    url,
    request: sent === 'damaged' ? null : sent,
    response:
      status === null || got === 'damaged' ? null : { httpStatus: status, ...(got ?? nothing(headers)) },
  });
}

/** `{code: 200}`, `200 OK` beside a `code`, or `status_code`; null: the cassette has no answer. */
const statusOf = ({ status, code, status_code: plain }: WideJsonObject): number | null => {
  const said = isJsonObject(status) ? status['code'] : undefined;
  const found = [said, code, plain, status].find((each) => typeof each === 'number');
  if (found !== undefined) return found >= 100 && found <= 999 ? Math.trunc(found) : null;
  const text = textOf(said) ?? textOf(status);
  return text !== undefined && /^[1-9]\d\d(?!\d)/.test(text) ? Number(text.slice(0, 3)) : null;
};

/** go-vcr writes a duration as `1.25s`, `350ms` or in nanoseconds. */
const secondsOf = (duration: Field): number | null => {
  if (typeof duration === 'number') return duration > 0 ? Math.round(duration / 1e6) : null;
  const parts = [...(textOf(duration) ?? '').matchAll(/(\d+(?:\.\d+)?)(ms|µs|us|ns|h|m|s)/g)];
  if (parts.length === 0) return null;
  const total = parts.reduce(
    (sum, [, number = '0', unit = 's']) => sum + Number(number) * (UNITS[unit] ?? 0),
    0,
  );
  return total > 0 ? Math.round(total) : null;
};

const UNITS: { readonly [unit: string]: number } = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  µs: 0.001,
  us: 0.001,
  ns: 0.000_001,
};

const nothing = (headers: HeaderReader): RecordedBytes => ({
  contentType: headers('content-type'),
  coding: null,
  body: new Uint8Array(),
  isExact: true,
});

/**
 * The bytes of a side: a text is its own bytes in UTF-8, and was decoded if they came in a coding; what stands in base64 is as it came.
 * A value instead of a text (`parsed_body`) has no bytes of its own. Null: the side has no body.
 */
const bytesOf = (side: WideJsonObject, headers: HeaderReader): RecordedBytes | null | 'damaged' => {
  const { body, content, parsed_body: parsed } = side;
  const contentType = headers('content-type');
  const found = body ?? content;
  const { string, base64_string: outer } = isJsonObject(found)
    ? found
    : { string: found, base64_string: undefined };
  const inner = isJsonObject(string) ? string['base64_string'] : undefined;
  const base64 = textOf(outer) ?? textOf(inner);
  if (base64 !== undefined) {
    const bytes = bytesOfBase64(base64);
    return bytes === undefined
      ? 'damaged'
      : { contentType, coding: codingOf(headers, bytes), body: bytes, isExact: true };
  }
  const text = textOf(string);
  if (text !== undefined && (text !== '' || parsed === undefined))
    return { contentType, coding: null, body: new TextEncoder().encode(text), isExact: true };
  const value = parsed ?? (isJsonObject(found) && string === undefined ? found : null);
  if (value === null) return null;
  return { contentType, coding: null, body: new TextEncoder().encode(canonicalJson(value)), isExact: false };
};

/** Recorders may decode a body and leave the header as it was: gzip and JSON show what is true. */
const codingOf = (headers: HeaderReader, bytes: Uint8Array): string | null => {
  const coding = headers('content-encoding');
  if (coding === null || coding === 'identity') return null;
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (/gzip/i.test(coding)) return isGzip ? coding : null;
  const start = new TextDecoder().decode(bytes.subarray(0, 16)).trimStart();
  return /^(\{|\[|data:|event:)/.test(start) ? null : coding;
};
