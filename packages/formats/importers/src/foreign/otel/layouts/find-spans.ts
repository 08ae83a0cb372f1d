import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { TraceSpan, SpanLayout } from '../span.ts';
import { jaegerSpan } from './jaeger.ts';
import { otlpSpan } from './otlp.ts';
import { plainSpan } from './plain.ts';

/** In this order: OTLP's names are among those that plain spans may have. */
const LAYOUTS: readonly SpanLayout[] = [jaegerSpan, otlpSpan, plainSpan];

/**
 * The fields that hold spans, or what holds them: OTLP (`resourceSpans` → `scopeSpans` → `spans`, the older names too), Tempo
 * (`batches`, `trace`), Jaeger and Phoenix (`data`), and lists of traces.
 */
const CONTAINERS = [
  ...['resourceSpans', 'resource_spans', 'batches', 'trace', 'traces', 'data'],
  ...['scopeSpans', 'scope_spans', 'instrumentationLibrarySpans', 'instrumentation_library_spans', 'spans'],
] as const;

/** The fields that only OTLP has: where one of them is empty, a file is OTLP all the same. */
const OWN = ['resourceSpans', 'resource_spans', 'scopeSpans', 'scope_spans', 'batches'] as const;

/** How deep spans are looked for: in Tempo's answers they are five lists deep. */
const MOST_DEPTH = 12;

const spanIn = (value: WideJsonObject): TraceSpan | null => {
  for (const layout of LAYOUTS) {
    const span = layout(value);
    if (span !== null) return span;
  }
  return null;
};

/** True if the value is a span, or begins with one. */
export const holdsSpan = (value: WideJson, depth = MOST_DEPTH): boolean => {
  if (depth === 0) return false;
  if (Array.isArray(value)) {
    const [first] = value as readonly WideJson[];
    return first !== undefined && holdsSpan(first, depth - 1);
  }
  if (!isJsonObject(value)) return false;
  if (OWN.some((name) => Array.isArray(value[name]))) return true;
  if (spanIn(value) !== null) return true;
  return CONTAINERS.some((name) => {
    const held = value[name];
    return held !== undefined && held !== null && holdsSpan(held, depth - 1);
  });
};

/** Other signals, which stand beside traces in the files of a collector. */
const OTHERS = ['resourceLogs', 'resourceMetrics', 'resource_logs', 'resource_metrics'] as const;

/** A span, or what is no span and is counted by this name. */
export type FoundSpan = { readonly span: TraceSpan } | { readonly dropped: string };

/** Every span of a value. @throws E_INPUT_SHAPE with the place of what is none */
export function* spansIn(value: WideJson, where: string, depth = MOST_DEPTH): Iterable<FoundSpan> {
  if (depth === 0) throw fail('E_INPUT_SHAPE', `${where} holds no span`);
  if (Array.isArray(value)) {
    for (const [i, item] of (value as readonly WideJson[]).entries())
      yield* spansIn(item, `${where}, item ${i}`, depth - 1);
    return;
  }
  if (!isJsonObject(value)) throw fail('E_INPUT_SHAPE', `${where} is no span`);
  const span = spanIn(value);
  if (span !== null) {
    yield { span };
    return;
  }
  const held = CONTAINERS.filter((name) => typeof value[name] === 'object' && value[name] !== null);
  const others = OTHERS.filter((name) => value[name] !== undefined);
  for (const name of others) yield { dropped: name };
  if (held.length === 0 && others.length === 0 && !isEmptyPart(value))
    throw fail('E_INPUT_SHAPE', `${where} is no span, and holds none`);
  for (const name of held) yield* spansIn(value[name] ?? null, `${where}, ${name}`, depth - 1);
}

/** True of a resource or a scope without spans: protobuf leaves out lists that are empty. */
const isEmptyPart = (value: WideJsonObject): boolean =>
  Object.keys(value).every((name) => ['resource', 'scope', 'schemaUrl', 'schema_url'].includes(name));
