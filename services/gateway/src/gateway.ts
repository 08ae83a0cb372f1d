import { ENDPOINTS, openApi, toWireJson, type Endpoint, type InputOf } from '@stemma/api';
import { fail, redactedError, StemmaError, VERSION } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { anySignal, isLoopback } from '@stemma/machine';
import { openMetrics, type Metrics } from '@stemma/metrics';
import { Hono, type Context } from 'hono';
import { fileURLToPath } from 'node:url';
import { ctreesMessages } from './ctrees.ts';
import { toResponse, type HttpAnswer } from './front/answer.ts';
import { errorAnswer } from './front/error-answer.ts';
import { refuseMethod } from './front/methods.ts';
import { guard } from './guard.ts';
import { createHandlers } from './handlers.ts';
import { safeHeaders } from './headers.ts';
import { openPathHider, type PathHider } from '@stemma/answers';
import { countRequests, routeMetrics } from './http-metrics.ts';
import { routeInterventionLines } from './intervention-lines.ts';
import { openObserver } from './observer.ts';
import { serveAsset, servePage } from './page.ts';
import type { ProxyBacklog } from './proxy/open-proxy.ts';
import type { QuestionPool } from './questions-apart/question-pool.ts';
import { honoPath, inputOf, partsOf } from './request.ts';
import { openPlainAnswers, type AnswerPlainly } from './plain-answers.ts';
import { openAnswers, routeEndpoints } from './routes.ts';
import { openStreamSlots } from './stream-slots.ts';
import { eventSource, openStream, watchSource, type StreamTimes } from './stream.ts';
import { SERVED } from './step-requests.ts';

export type GatewayOptions = {
  readonly home: Home;
  /** The values of `Host` to answer to; any loopback name unless said. */
  readonly hosts?: (host: string) => boolean;
  /** The folder of the inspector's built files. */
  readonly page?: string;
  readonly stream?: Partial<StreamTimes>;
  /** Live streams at a time; 64 unless said. */
  readonly streams?: number;
  /** Live streams end when it aborts. */
  readonly closing?: AbortSignal;
  /** Answers the questions that take long, apart from everything else; otherwise the home answers them itself. */
  readonly questions?: QuestionPool;
  /** What the proxy in front of the home has still to record. */
  readonly recording?: () => Promise<ProxyBacklog>;
  /** Told of errors that are no answer of the contract: faults of Stemma. */
  readonly report?: (error: unknown) => void;
  /** Which minds may be asked, where they are, and their keys. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What it counts, shown at `/metrics`; its own unless given. */
  readonly metrics?: Metrics;
};

const PAGE = fileURLToPath(new URL('../../inspector/dist', import.meta.url));
const TIMES: StreamTimes = { heartbeat: 15_000, stall: 30_000, refusal: 250, turn: 10_000 };

/** The HTTP door of a home: a function from requests to answers, testable without a port. */
export const createGateway = (options: GatewayOptions): Hono => openGateway(options).app;

/** The same, and beside it the shorter way to the endpoints whose answers are known whole. */
export const openGateway = (
  options: GatewayOptions,
): { readonly app: Hono; readonly answerPlainly: AnswerPlainly } => {
  const { home, page = PAGE, report = () => undefined } = options;
  const app = new Hono();
  const metrics = options.metrics ?? openMetrics({ service: 'gateway', version: VERSION, ofProcess: false });
  const hider = openPathHider(home.directory);
  app.use(countRequests(metrics));
  app.use(safeHeaders);
  app.use(guard(options.hosts ?? ((host) => isLoopback(host.replace(/:\d+$/, '')))));
  app.use(async (c, next) => {
    refuseMethod(c.req.method, c.req.path);
    await next();
  });
  const observer = openObserver(home, report);
  options.closing?.addEventListener('abort', () => void observer.flush(), { once: true });
  const answer = openAnswers(
    createHandlers(home, {
      hider,
      closing: options.closing,
      recording: options.recording,
      ...(options.env && { env: options.env }),
    }),
    (name, actor, input) =>
      actor === undefined ? Promise.resolve() : observer.see(name, nameIn(actor), input),
    options.questions,
  );
  routeEndpoints(app, answer);
  routeInterventionLines(app, home);
  routeStreams(app, options, hider, metrics);
  routeMetrics(app, metrics);
  // A tenth of a gateway's start, and few ever ask for it.
  let document: string | undefined;
  app.get('/openapi.json', (c) =>
    c.body((document ??= toWireJson(openApi(VERSION, SERVED))), 200, { 'content-type': 'application/json' }),
  );
  app.get('/', (c) => servePage(c, page));
  app.get('/assets/:name', (c) => serveAsset(c, page, c.req.param('name')));
  app.notFound((c) => {
    throw fail('E_NOT_FOUND', `there is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}`);
  });
  const toAnswer = (raised: unknown): HttpAnswer => {
    const error = redactedError(raised, (text) => home.redactText(text));
    if (!(error instanceof StemmaError) || error.code === 'E_INTERNAL') report(error);
    return errorAnswer(hider.error(error));
  };
  app.onError((raised) => toResponse(toAnswer(raised)));
  return { app, answerPlainly: openPlainAnswers(answer, toAnswer, metrics) };
};

/** Headers are ASCII: other letters of a name come percent-encoded. */
const nameIn = (header: string): string => {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
};

type Opening = (c: Context, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;

/** The live streams: a limited number at a time, each until its client disconnects, others need its slot, or the server closes. */
const routeStreams = (
  app: Hono,
  { home, streams = 64, stream, closing }: GatewayOptions,
  hider: PathHider,
  metrics: Metrics,
): void => {
  const stalled = (): void => metrics.add('stemma_streams_dropped_total', { reason: 'slow' });
  const times = { ...TIMES, ...stream, told: hider.error, stalled };
  const afterOf = (c: Context, after: string | undefined): string | undefined =>
    c.req.header('last-event-id') ?? after;
  const openings: readonly (readonly [Endpoint, Opening])[] = [
    [
      ENDPOINTS.stream,
      async (c, signal) => {
        const input = (await inputOf(partsOf(c), ENDPOINTS.stream)) as InputOf<typeof ENDPOINTS.stream>;
        const history = input.history === undefined ? undefined : (await home.find(input.history)).history;
        return openStream(eventSource(home, { after: afterOf(c, input.after), history }), signal, times);
      },
    ],
    [
      ENDPOINTS.ctreesStream,
      async (c, signal) => {
        const { session, after } = (await inputOf(partsOf(c), ENDPOINTS.ctreesStream)) as InputOf<
          typeof ENDPOINTS.ctreesStream
        >;
        const { history } = await home.find(session);
        const asked = { after: afterOf(c, after), history };
        return openStream(eventSource(home, asked, ctreesMessages(home, session)), signal, times);
      },
    ],
    [
      ENDPOINTS.watch,
      async (c, signal) => {
        const input = (await inputOf(partsOf(c), ENDPOINTS.watch)) as InputOf<typeof ENDPOINTS.watch>;
        return openStream(watchSource(home, { ...input, after: afterOf(c, input.after) }), signal, times);
      },
    ],
  ];
  const takeSlot = openStreamSlots(streams, times.turn, () =>
    metrics.add('stemma_streams_dropped_total', { reason: 'turn' }),
  );
  for (const [{ path }, opening] of openings)
    app.get(honoPath(path), async (c) => {
      const slot = takeSlot();
      const signal = anySignal([c.req.raw.signal, slot.signal, ...(closing === undefined ? [] : [closing])]);
      try {
        const counted = onEnd(await opening(c, signal), slot.release);
        return c.body(counted, 200, {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          'x-accel-buffering': 'no',
        });
      } catch (error) {
        slot.release();
        throw error;
      }
    });
};

/** The same bytes; `act` is called when they have ended or nobody wants them any more. */
const onEnd = (bytes: ReadableStream<Uint8Array>, act: () => void): ReadableStream<Uint8Array> => {
  const reader = bytes.getReader();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) {
          act();
          controller.close();
        } else controller.enqueue(value);
      },
      cancel: async (reason) => {
        act();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
};
