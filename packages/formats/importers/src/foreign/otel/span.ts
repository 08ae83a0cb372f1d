import type { WideJson, WideJsonObject } from '@stemma/canonical';

/** A span of a trace, in whatever layout it was written. */
export type TraceSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly startMs: number | null;
  readonly durationMs: number | null;
  /** By their names; values may be objects, whose fields then are attributes with a longer name. */
  readonly attributes: WideJsonObject;
  readonly events: readonly SpanEvent[];
  /** What its status says; null: it did not fail. */
  readonly error: { readonly code: string | null; readonly message: string } | null;
};

export type SpanEvent = { readonly name: string; readonly attributes: WideJsonObject };

/** A layout: the span that an object is, or null. */
export type SpanLayout = (value: WideJsonObject) => TraceSpan | null;

/** What its event says of an error, for a status that says only that there was one. */
export const errorOfEvents = (
  status: { readonly message: string | null },
  events: readonly SpanEvent[],
): NonNullable<TraceSpan['error']> => {
  const said = events.find(({ name }) => name === 'exception')?.attributes ?? {};
  const text = (value: WideJson | undefined): string | null =>
    typeof value === 'string' && value !== '' ? value : null;
  return {
    code: text(said['exception.type']),
    message: status.message ?? text(said['exception.message']) ?? 'the span failed, and does not say why',
  };
};
