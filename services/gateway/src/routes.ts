import {
  HEAVY,
  isStreamedName,
  toWireJson,
  type Endpoint,
  type EndpointName,
  type StreamedName,
} from '@stemma/api';
import type { Context, Hono } from 'hono';
import { toResponse, type HttpAnswer } from './front/answer.ts';
import type { Handlers } from './handlers.ts';
import type { RequestClient } from './request-client.ts';
import { REPORT_SECURITY_POLICY } from './headers.ts';
import type { Asker, QuestionPool } from './questions-apart/question-pool.ts';
import { SERVED } from './step-requests.ts';
import { honoPath, inputOf, partsOf, type RequestParts } from './request.ts';

/** Told of every answer that was asked for in somebody's name. */
type OnAnswered = (
  name: EndpointName,
  actor: string | undefined,
  input: Readonly<Record<string, unknown>>,
) => Promise<void>;

/** Answers one endpoint: parses what comes in, writes what goes out. @throws coded errors */
export type AnswerEndpoint = (
  name: Exclude<EndpointName, StreamedName>,
  request: RequestParts & { readonly signal: () => AbortSignal; readonly asker: Asker },
) => Promise<HttpAnswer>;

export const openAnswers =
  (handlers: Handlers, onAnswered: OnAnswered, questions: QuestionPool | undefined): AnswerEndpoint =>
  async (name, request) => {
    const endpoint: Endpoint = SERVED[name];
    const input = await inputOf(request, endpoint);
    const handle = handlers[name] as (input: unknown, client: RequestClient) => Promise<unknown>;
    const value =
      questions !== undefined && HEAVY.has(name)
        ? await questions.ask(name, input, request.asker, request.signal())
        : await handle(input, request);
    await onAnswered(name, request.header('stemma-actor'), input);
    return answerOf(endpoint, value);
  };

/** The endpoints whose answers are known whole. */
export const wholeEndpoints = (): readonly (readonly [Exclude<EndpointName, StreamedName>, Endpoint])[] =>
  (Object.entries(SERVED) as [EndpointName, Endpoint][]).flatMap(([name, endpoint]) =>
    isStreamedName(name) ? [] : [[name, endpoint] as const],
  );

/** Routes every endpoint but the streams. */
export const routeEndpoints = (app: Hono, answer: AnswerEndpoint): void => {
  for (const [name, endpoint] of wholeEndpoints())
    app.on(endpoint.method, honoPath(endpoint.path), async (c) =>
      toResponse(await answer(name, { ...partsOf(c), signal: () => c.req.raw.signal, asker: askerOf(c) })),
    );
};

/** Who asks, as the server says; without a server nobody is another's program. */
const askerOf = (c: Context): Asker =>
  (c.env as { asker?: Asker } | undefined)?.asker ?? { connection: c.req.raw, program: async () => '' };

/** @param value what the endpoint answers, or the bytes of that */
const answerOf = ({ answer: kind }: Endpoint, value: unknown): HttpAnswer => {
  if (kind.kind === 'json') {
    const body = value instanceof Uint8Array ? (value as Uint8Array<ArrayBuffer>) : toWireJson(value);
    return { status: kind.status, headers: { 'content-type': 'application/json' }, body };
  }
  const mime = kind.kind === 'bytes' ? kind.mime : 'text/plain';
  return {
    status: 200,
    headers: {
      'content-type': mime,
      ...(mime.startsWith('text/html') && { 'content-security-policy': REPORT_SECURITY_POLICY }),
    },
    body: value as string | Uint8Array<ArrayBuffer>,
  };
};
