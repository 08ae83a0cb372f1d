import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { type Field, listOf, objectOf } from '../../fields.ts';
import { firstOf, spanOf, textIn, timeIn, wordIn } from '../../loose-values.ts';
import { errorOfEvents, type TraceSpan, type SpanEvent, type SpanLayout } from '../span.ts';
import { attributesIn } from './otlp.ts';

/**
 * Spans with plain attributes: of Phoenix (`{context: {trace_id, span_id}, span_kind, attributes}`, and rows of its dataframes:
 * `{'context.trace_id', 'attributes.llm.model_name'}`), of the SDKs' console exporters for Python (`context`, dates) and JavaScript
 * (`{traceId, id, timestamp, duration}`, microseconds), and of programs that write down what the SDK holds (`startTime:
 * [seconds, nanoseconds]`).
 */
export const plainSpan: SpanLayout = (value) => {
  const ids = idsIn(value);
  if (ids === null) return null;
  const attributes = withKind(value, columnsIn(value));
  const events = listOf(value['events']).filter(isJsonObject).map(eventOf);
  const [startMs, endMs] = timesIn(value);
  return {
    ...ids,
    parentId: parentIn(value),
    name: textIn(value['name']) ?? '',
    startMs,
    durationMs: spanOf(startMs, endMs),
    attributes,
    events,
    error: errorIn(value, events),
  };
};

const START = ['start_time', 'startTime', 'timestamp', 'start_timestamp', 'startTimeMs'] as const;

const idsIn = (value: WideJsonObject): Pick<TraceSpan, 'traceId' | 'spanId'> | null => {
  const context = objectOf(firstOf(value['context'], value['spanContext'], value['_spanContext']));
  const traceId = idIn(
    firstOf(
      context['trace_id'],
      context['traceId'],
      value['context.trace_id'],
      value['traceId'],
      value['trace_id'],
    ),
  );
  const spanId = idIn(
    firstOf(
      ...[context['span_id'], context['spanId'], value['context.span_id']],
      ...[value['spanId'], value['span_id'], value['id']],
    ),
  );
  if (traceId === null || spanId === null) return null;
  // Observations of Langfuse and runs of LangSmith have ids of traces too, and no attributes.
  const hasAttributes =
    isJsonObject(value['attributes']) || Object.keys(value).some((name) => name.startsWith('attributes.'));
  return hasAttributes && START.some((name) => value[name] !== undefined) ? { traceId, spanId } : null;
};

/** The SDK for Python writes `0x` in front. */
const idIn = (value: Field): string | null => wordIn(value)?.replace(/^0x/, '') ?? null;

const parentIn = (value: WideJsonObject): string | null =>
  idIn(
    firstOf(
      ...[value['parent_id'], value['parentId'], value['parentSpanId'], value['parent_span_id']],
      objectOf(value['parentSpanContext'])['spanId'],
    ),
  );

/** The attributes, of a row of a dataframe those in its columns. */
const columnsIn = (value: WideJsonObject): WideJsonObject => {
  const own = attributesIn(value['attributes']);
  const columns = Object.entries(value).flatMap(([name, item]) =>
    name.startsWith('attributes.') && item !== null
      ? [[name.slice('attributes.'.length), item] as const]
      : [],
  );
  return columns.length === 0 ? own : { ...own, ...Object.fromEntries(columns) };
};

/** Phoenix has the kind of a span beside its attributes. */
const withKind = (value: WideJsonObject, attributes: WideJsonObject): WideJsonObject => {
  const kind = wordIn(value['span_kind']);
  return kind === null || attributes['openinference.span.kind'] !== undefined
    ? attributes
    : { ...attributes, 'openinference.span.kind': kind };
};

const timesIn = (value: WideJsonObject): readonly [number | null, number | null] => {
  const start = momentIn(firstOf(...START.map((name) => value[name])));
  const end = momentIn(
    firstOf(value['end_time'], value['endTime'], value['end_timestamp'], value['endTimeMs']),
  );
  const duration = momentsLength(value['duration']);
  return [start, end ?? (start === null || duration === null ? null : start + duration)];
};

/** `[seconds, nanoseconds]`, a date or a number. */
const momentIn = (value: Field): number | null => {
  const [seconds, nanoseconds = 0] = listOf(value);
  if (typeof seconds === 'number' && typeof nanoseconds === 'number')
    return Math.floor(seconds * 1e3 + nanoseconds / 1e6);
  return timeIn(value);
};

/** The console exporter for JavaScript counts microseconds. */
const momentsLength = (value: Field): number | null => {
  const [seconds, nanoseconds = 0] = listOf(value);
  if (typeof seconds === 'number' && typeof nanoseconds === 'number')
    return seconds * 1e3 + nanoseconds / 1e6;
  return typeof value === 'number' && value >= 0 ? value / 1e3 : null;
};

const eventOf = (event: WideJsonObject): SpanEvent => {
  const { name, attributes, ...rest } = event;
  return {
    name: textIn(name) ?? '',
    attributes: attributes === undefined ? rest : attributesIn(attributes),
  };
};

const FAILED: ReadonlySet<WideJson | undefined> = new Set([
  'ERROR',
  'STATUS_CODE_ERROR',
  'StatusCode.ERROR',
  2,
]);

const errorIn = (value: WideJsonObject, events: readonly SpanEvent[]): TraceSpan['error'] => {
  const status = objectOf(value['status']);
  const code = firstOf(status['status_code'], status['code'], value['status_code'], value['statusCode']);
  const message = wordIn(firstOf(status['message'], status['description'], value['status_message']));
  return FAILED.has(code) ? errorOfEvents({ message }, events) : null;
};
