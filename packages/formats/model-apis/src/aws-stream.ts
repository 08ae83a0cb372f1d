import { isJsonObject, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { decodeText, guarded, wellFormedJson } from './body.ts';
import type { EventData } from './event-stream.ts';
import { jsonText } from './json-text.ts';

/**
 * A message of AWS's event stream: its length, that of its headers, a checksum of both, the headers, the payload and a checksum of
 * all. Bedrock sends each event of an answer as one: `:event-type: contentBlockDelta`, and JSON.
 */
export type AwsMessage = {
  /** Those whose value is a text. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
};

/** As it stands in a stream: all of its bytes. */
export type ReadAwsMessage = AwsMessage & { readonly bytes: Uint8Array };

/** Bytes before the headers, and behind the payload. */
const [PRELUDE, TAIL] = [12, 4];

/** The largest message; AWS's own readers take no larger one. */
const MOST = 24 * 1024 * 1024;

/** The type of a header whose value is a text; others have a fixed size, or bytes. */
const TEXT = 7;
const BYTES = 6;

/** Bytes of the value of each other type. */
const SIZES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

const CONTENT_TYPE = 'application/vnd.amazon.eventstream';

/** True for a stream of AWS's messages: the head says so, or the checksum of the first length is right. */
export const isAwsStream = (contentType: string | null, bytes: Uint8Array): boolean => {
  if (contentType?.toLowerCase().includes(CONTENT_TYPE) === true) return true;
  return bytes.length >= PRELUDE && crc32(bytes.subarray(0, 8)) === viewOf(bytes).getUint32(8);
};

/**
 * The messages of a stream, up to the one that the end cuts off.
 *
 * @throws E_INPUT_SHAPE at one that is damaged
 */
export function* awsMessages(bytes: Uint8Array): Iterable<ReadAwsMessage> {
  const view = viewOf(bytes);
  for (let at = 0; bytes.length - at >= PRELUDE;) {
    const [size, headerSize] = [view.getUint32(at), view.getUint32(at + 4)];
    if (crc32(bytes.subarray(at, at + 8)) !== view.getUint32(at + 8))
      throw fail('E_INPUT_SHAPE', `the event at byte ${at} has a wrong checksum of its length`);
    if (size < PRELUDE + TAIL + headerSize || size > MOST)
      throw fail('E_INPUT_SHAPE', `the event at byte ${at} has a length of ${size} bytes`);
    const end = at + size;
    if (end > bytes.length) return;
    if (crc32(bytes.subarray(at, end - TAIL)) !== view.getUint32(end - TAIL))
      throw fail('E_INPUT_SHAPE', `the event at byte ${at} has a wrong checksum`);
    const payloadAt = at + PRELUDE + headerSize;
    yield {
      headers: headersIn(bytes.subarray(at + PRELUDE, payloadAt)),
      payload: bytes.subarray(payloadAt, end - TAIL),
      bytes: bytes.subarray(at, end),
    };
    at = end;
  }
}

/** The texts among the headers; a header that is cut ends them. */
const headersIn = (bytes: Uint8Array): Readonly<Record<string, string>> => {
  const view = viewOf(bytes);
  const headers: Record<string, string> = {};
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + (bytes[at] as number);
    const type = bytes[nameEnd];
    const name = textIn(bytes.subarray(at + 1, nameEnd));
    if (type === TEXT || type === BYTES) {
      if (nameEnd + 3 > bytes.length) break;
      const valueEnd = nameEnd + 3 + view.getUint16(nameEnd + 1);
      if (type === TEXT) headers[name] = textIn(bytes.subarray(nameEnd + 3, valueEnd));
      at = valueEnd;
    } else {
      const size = type === undefined ? undefined : SIZES[type];
      if (size === undefined) break;
      at = nameEnd + 1 + size;
    }
  }
  return headers;
};

const textIn = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/**
 * The events of a stream as JSON: `{"contentBlockDelta": {…}}`, named for their type, and `{"exception": {"type", "message"}}` for an
 * error. A chunk of InvokeModel is the event that its base64 holds.
 *
 * @throws as {@link awsMessages}
 */
export function* awsEvents(bytes: Uint8Array): Iterable<EventData> {
  for (const message of awsMessages(bytes)) yield { data: eventIn(message), ended: true };
}

const eventIn = ({ headers, payload }: AwsMessage): string => {
  const text = decodeText(payload, 'an event of the answer');
  const kind = headers[':message-type'];
  if (kind === 'exception' || kind === 'error')
    return jsonText({
      exception: {
        type: headers[':exception-type'] ?? headers[':error-code'] ?? null,
        message: headers[':error-message'] ?? messageIn(text),
      },
    });
  return `{${JSON.stringify(headers[':event-type'] ?? 'event')}:${text.trim() === '' ? '{}' : text}}`;
};

const messageIn = (text: string): WideJson => {
  const read = guarded(() => ({ ok: true, value: wellFormedJson(text, 'an error') }) as const);
  if (!read.ok || !isJsonObject(read.value)) return text;
  return read.value['message'] ?? read.value['Message'] ?? text;
};

/** The bytes of a message with these headers, which are texts. */
export const awsMessage = ({ headers, payload }: AwsMessage): Uint8Array => {
  const head = Object.entries(headers).flatMap(([name, value]) => {
    const [nameBytes, valueBytes] = [utf8.encode(name), utf8.encode(value)];
    return [
      ...[nameBytes.length, ...nameBytes, TEXT, valueBytes.length >> 8, valueBytes.length & 0xff],
      ...valueBytes,
    ];
  });
  const message = new Uint8Array(PRELUDE + head.length + payload.length + TAIL);
  const view = viewOf(message);
  view.setUint32(0, message.length);
  view.setUint32(4, head.length);
  view.setUint32(8, crc32(message.subarray(0, 8)));
  message.set(head, PRELUDE);
  message.set(payload, PRELUDE + head.length);
  view.setUint32(message.length - TAIL, crc32(message.subarray(0, message.length - TAIL)));
  return message;
};

const utf8 = new TextEncoder();

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** For each byte, what it makes of the checksum (the polynomial of zlib and Ethernet). */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

const crc32 = (bytes: Uint8Array): number => {
  let rest = 0xffffffff;
  for (const byte of bytes) rest = (rest >>> 8) ^ (TABLE[(rest ^ byte) & 0xff] as number);
  return (rest ^ 0xffffffff) >>> 0;
};
