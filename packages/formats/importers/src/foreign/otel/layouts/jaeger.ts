import { isForbiddenKey, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { type Field, listOf, objectOf } from '../../fields.ts';
import { firstOf, spanOf, textIn, timeIn, wordIn } from '../../loose-values.ts';
import { errorOfEvents, type TraceSpan, type SpanEvent, type SpanLayout } from '../span.ts';

/** Jaeger's JSON: `{traceID, spanID, operationName, references, startTime, duration, tags: [{key, value}]}`, in microseconds. */
export const jaegerSpan: SpanLayout = (value) => {
  const [traceId, spanId] = [wordIn(value['traceID']), wordIn(value['spanID'])];
  if (traceId === null || spanId === null) return null;
  const attributes = tagsIn(value['tags']);
  const events = listOf(value['logs']).filter(isJsonObject).map(eventOf);
  const { duration } = value;
  const micros = typeof duration === 'number' && duration >= 0 ? duration : null;
  return {
    traceId,
    spanId,
    parentId: parentIn(value),
    name: textIn(value['operationName']) ?? '',
    startMs: timeIn(value['startTime']),
    durationMs: micros === null ? null : spanOf(0, micros / 1e3),
    attributes,
    events,
    error: errorIn(attributes, events),
  };
};

const parentIn = (value: WideJsonObject): string | null => {
  const parent = listOf(value['references'])
    .map(objectOf)
    .find(({ refType }) => refType === 'CHILD_OF');
  return wordIn(firstOf(parent?.['spanID'], value['parentSpanID']));
};

const tagsIn = (value: Field): WideJsonObject => {
  const found: Record<string, WideJson> = {};
  for (const item of listOf(value)) {
    const { key, value: held = null } = objectOf(item);
    if (typeof key === 'string' && !isForbiddenKey(key)) found[key] = held;
  }
  return found;
};

const eventOf = (log: WideJsonObject): SpanEvent => {
  const { event, name, ...attributes } = tagsIn(log['fields']);
  return { name: textIn(firstOf(event, name)) ?? '', attributes };
};

const errorIn = (tags: WideJsonObject, events: readonly SpanEvent[]): TraceSpan['error'] =>
  tags['otel.status_code'] === 'ERROR' || tags['error'] === true || tags['error'] === 'true'
    ? errorOfEvents({ message: wordIn(tags['otel.status_description']) }, events)
    : null;
