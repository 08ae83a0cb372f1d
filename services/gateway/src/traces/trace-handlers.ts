import { toWireJson, type AnswerOf, type Endpoints, type InputOf } from '@stemma/api';
import type { WideJson } from '@stemma/canonical';
import type { TraceRecorder } from '@stemma/exchanges';
import type { GivenInput } from '../answers.ts';
import type { HttpAnswer } from '../front/answer.ts';
import { bodyOfContract, joinedBody } from '../request.ts';
import { SERVED } from '../step-requests.ts';
import { PROTOBUF, readTraces } from './read-traces.ts';

type TracesHandler = (input: InputOf<Endpoints['traces']>) => Promise<AnswerOf<Endpoints['traces']>>;

/** Takes the spans that programs send. */
export const traceHandlers = (recorder: TraceRecorder): { readonly traces: TracesHandler } => ({
  traces: async ({ body }) => {
    await recorder.take({ resourceSpans: body.resourceSpans as readonly WideJson[] }, 'the request');
    return { partialSuccess: {} };
  },
});

/** The answer to a request of OTLP, in the type of its body: an empty answer of protobuf has no bytes. */
export const answerTraces = async (handle: TracesHandler, given: GivenInput): Promise<HttpAnswer> => {
  const value = await readTraces(joinedBody(given), given.headers);
  const answer = await handle({ body: bodyOfContract(SERVED.traces.body, value) });
  const type = given.headers['content-type'] ?? '';
  return type.toLowerCase().startsWith(PROTOBUF)
    ? { status: 200, headers: { 'content-type': PROTOBUF }, body: new Uint8Array(0) }
    : { status: 200, headers: { 'content-type': 'application/json' }, body: toWireJson(answer) };
};
