import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { anyJson } from './values.ts';

/** Spans, as OTLP has them: `ExportTraceServiceRequest`. */
const TracesRequest = z
  .looseObject({
    resourceSpans: z
      .array(anyJson)
      .describe(
        'each with `scopeSpans`, each with `spans`: {traceId, spanId, parentSpanId, name, attributes …}',
      ),
  })
  .meta({ id: 'TracesRequest' });

const TracesAnswer = z
  .strictObject({ partialSuccess: z.strictObject({}).describe('empty: every span was taken') })
  .meta({ id: 'TracesAnswer' });

/** The endpoint of OpenTelemetry's exporters. */
export const TRACES = {
  traces: {
    method: 'POST',
    path: '/v1/traces',
    summary:
      'Takes spans of OpenTelemetry (OTLP), and records the calls of models among them: when the root of their trace has come, or no span for five seconds. In any order; a span that comes twice has one effect.',
    body: TracesRequest,
    otherBodies: ['application/x-protobuf'],
    answer: { kind: 'json', status: 200, schema: TracesAnswer },
    errors: ['E_COMMAND_INVALID', 'E_INPUT_SHAPE', 'E_INPUT_NOT_JSON', 'E_OUTCOME_UNKNOWN', 'E_IO'],
  },
} as const satisfies Record<string, Endpoint>;
