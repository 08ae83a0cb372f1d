import type { Framing } from './api-format.ts';
import type { ModelApi } from './api-names.ts';
import { formatOf } from './apis.ts';
import { itemSpans } from './json-spans.ts';
import { isAwsStream } from './aws-stream.ts';

/**
 * How the bytes of an answer are cut into events; null: they are one JSON value. Some servers name the wrong type, but no server-sent
 * event begins with a brace.
 *
 * @param own of the API, besides server-sent events
 */
export const framingOf = (own: Framing, contentType: string | null, bytes: Uint8Array): Framing | null => {
  if (own === 'aws' && isAwsStream(contentType, bytes)) return 'aws';
  const start = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart();
  if (start.startsWith('{')) return own === 'lines' && isOfLines(contentType, bytes) ? 'lines' : null;
  if (own === 'list' && start.startsWith('[')) return 'list';
  return /^\s*text\/event-stream\b/i.test(contentType ?? '') || /^(data|event|id|retry)?:/.test(start)
    ? 'events'
    : null;
};

/** As {@link framingOf}, of an answer of an API. */
export const framingOfAnswer = (
  api: ModelApi,
  contentType: string | null,
  bytes: Uint8Array,
): Framing | null => framingOf(api === 'other' ? 'events' : formatOf(api).framing, contentType, bytes);

const [LF, OPEN] = [0x0a, 0x7b];

/** True for JSON values of which each has a line: a value ends its line, and the next one begins the next. */
const isOfLines = (contentType: string | null, bytes: Uint8Array): boolean => {
  if (/^\s*application\/(x-)?(ndjson|jsonl)\b/i.test(contentType ?? '')) return true;
  const first = bytes.indexOf(OPEN);
  // As a list of one value: where that ends, the value does.
  const end = endOfValue(bytes, first);
  if (end === -1) return false;
  const line = bytes.indexOf(LF, end);
  return line !== -1 && bytes.subarray(line).includes(OPEN);
};

const endOfValue = (bytes: Uint8Array, at: number): number => {
  let depth = 0;
  for (let next = at; next < bytes.length; next++) {
    const byte = bytes[next];
    if (byte === 0x22) {
      for (next++; next < bytes.length && bytes[next] !== 0x22; next++) if (bytes[next] === 0x5c) next++;
    } else if (byte === OPEN || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return next + 1;
  }
  return -1;
};

/** The values of a list as far as it came, and whether its end did. */
export const listItems = (
  bytes: Uint8Array,
): { readonly items: readonly Uint8Array[]; readonly isEnded: boolean } => {
  const at = bytes.indexOf(0x5b);
  const whole = itemSpans(bytes, at, []);
  if (whole !== undefined)
    return { items: whole.items.map(([start, end]) => bytes.subarray(start, end)), isEnded: true };
  const items: Uint8Array[] = [];
  for (let next = bytes.indexOf(OPEN, at); next !== -1;) {
    const end = endOfValue(bytes, next);
    if (end === -1) break;
    items.push(bytes.subarray(next, end));
    next = bytes.indexOf(OPEN, end);
  }
  return { items, isEnded: false };
};
