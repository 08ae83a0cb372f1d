import { isForbiddenKey, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { millisecondsOf } from '@stemma/values';
import { type Field, listOf, objectOf } from '../../fields.ts';
import { firstOf, textIn, wordIn } from '../../loose-values.ts';
import { errorOfEvents, type TraceSpan, type SpanEvent, type SpanLayout } from '../span.ts';

/**
 * OTLP as JSON, as SDKs, collectors and Tempo write it: `{traceId, spanId, startTimeUnixNano, attributes: [{key, value:
 * {stringValue}}]}`; programs in Python write `trace_id` and so on.
 */
export const otlpSpan: SpanLayout = (value) => {
  const traceId = wordIn(firstOf(value['traceId'], value['trace_id']));
  const spanId = wordIn(firstOf(value['spanId'], value['span_id']));
  const start = firstOf(value['startTimeUnixNano'], value['start_time_unix_nano']);
  if (traceId === null || spanId === null) return null;
  if (start === undefined && !Array.isArray(value['attributes'])) return null;
  const events = listOf(value['events']).filter(isJsonObject).map(eventOf);
  const from = nanosecondsIn(start);
  const to = nanosecondsIn(firstOf(value['endTimeUnixNano'], value['end_time_unix_nano']));
  return {
    traceId,
    spanId,
    parentId: parentIn(firstOf(value['parentSpanId'], value['parent_span_id'])),
    name: textIn(value['name']) ?? '',
    startMs: from === null ? null : millisecondsOf(from),
    durationMs: from === null || to === null || to < from ? null : millisecondsOf(to - from),
    attributes: attributesIn(value['attributes']),
    events,
    error: errorIn(objectOf(value['status']), events),
  };
};

/** A root may name a parent of zeros. */
const parentIn = (value: Field): string | null => {
  const id = wordIn(value);
  return id === null || /^(0+|A+=*)$/.test(id) ? null : id;
};

const nanosecondsIn = (value: Field): bigint | null => {
  if (typeof value === 'bigint') return value > 0n ? value : null;
  if (typeof value === 'number')
    return Number.isFinite(value) && value > 0 ? BigInt(Math.floor(value)) : null;
  return typeof value === 'string' && /^\d{1,19}$/.test(value) && !/^0+$/.test(value) ? BigInt(value) : null;
};

const eventOf = (event: WideJsonObject): SpanEvent => ({
  name: textIn(event['name']) ?? '',
  attributes: attributesIn(event['attributes']),
});

const errorIn = (status: WideJsonObject, events: readonly SpanEvent[]): TraceSpan['error'] => {
  const { code } = status;
  return code === 2 || code === 'STATUS_CODE_ERROR' || code === 'ERROR'
    ? errorOfEvents({ message: wordIn(status['message']) }, events)
    : null;
};

/** Attributes as an object, from a list of `{key, value}` or as they stand. */
export const attributesIn = (value: Field): WideJsonObject => {
  if (!Array.isArray(value)) return objectOf(value);
  const found: Record<string, WideJson> = {};
  for (const item of listOf(value)) {
    const { key, value: held } = objectOf(item);
    if (typeof key === 'string' && !isForbiddenKey(key)) found[key] = valueIn(held);
  }
  return found;
};

/** `{stringValue: 'a'}`, `{intValue: '3'}`, `{arrayValue: {values: […]}}`; any other value as it stands. */
const valueIn = (value: Field): WideJson => {
  if (!isJsonObject(value)) return value ?? null;
  const held = Object.entries(value).find(([, item]) => item !== null);
  if (held === undefined) return null;
  const [kind, item] = held;
  switch (kind.replace('_v', 'V')) {
    case 'intValue':
      return integerIn(item);
    case 'arrayValue':
      return listOf(objectOf(item)['values']).map(valueIn);
    case 'kvlistValue':
      return attributesIn(objectOf(item)['values']);
    case 'stringValue':
    case 'boolValue':
    case 'doubleValue':
    case 'bytesValue':
      return item;
    default:
      return value;
  }
};

const integerIn = (value: WideJson): WideJson => {
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
};
