import { openPathHider } from '@stemma/answers';
import {
  HEAVY,
  openApi,
  toWireJson,
  type Endpoint,
  type EndpointName,
  type Endpoints,
  type InputOf,
  type StreamedName,
} from '@stemma/api';
import { redactedError, StemmaError, VERSION } from '@stemma/errors';
import { openTraceRecorder } from '@stemma/exchanges';
import type { Home } from '@stemma/home';
import type { Metrics } from '@stemma/metrics';
import { defined } from '@stemma/values';
import { fileURLToPath } from 'node:url';
import { signalOf, type HttpAnswers, type Client, type GivenInput, type RouteName } from './answers.ts';
import { headOf, type HttpAnswer, type StreamedAnswer } from './front/answer.ts';
import { errorAnswer } from './front/error-answer.ts';
import { createHandlers, type Handlers } from './handlers.ts';
import { REPORT_SECURITY_POLICY } from './headers.ts';
import { countRequest } from './http-metrics.ts';
import { openInterventionLines } from './intervention-lines.ts';
import { openLiveStreams } from './live-streams.ts';
import { openObserver } from './observer.ts';
import { readAsset, readPage } from './page.ts';
import type { ProxyBacklog } from './proxy/open-proxy.ts';
import { inputOf } from './request.ts';
import { labelOf } from './router.ts';
import { SERVED } from './step-requests.ts';
import type { StreamTimes } from './stream.ts';
import { answerTraces } from './traces/trace-handlers.ts';

export type HomeAnswersOptions = {
  readonly home: Home;
  /** What it counts, shown at `/metrics`. */
  readonly metrics: Metrics;
  /** The folder of the inspector's built files. */
  readonly page?: string;
  readonly stream?: Partial<StreamTimes>;
  /** Live streams at a time; 64 unless said. */
  readonly streams?: number;
  /** Live streams end when it aborts. */
  readonly closing?: AbortSignal;
  /** Answers the questions that take long, apart from everything else; otherwise the home answers them itself. */
  readonly questions?: HttpAnswers;
  /** What the proxy in front of the home has still to record. */
  readonly recording?: () => Promise<ProxyBacklog>;
  /** Told of errors that are no answer of the contract: faults of Stemma. */
  readonly report?: (error: unknown) => void;
  /** Which minds may be asked, where they are, and their keys. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
};

type Answerer = (input: GivenInput, client: Client) => Promise<HttpAnswer | StreamedAnswer>;

const PAGE = fileURLToPath(new URL('../../inspector/dist', import.meta.url));

export type HomeAnswers = HttpAnswers & {
  /** Records the calls that wait for spans above them; a home is closed after that. */
  readonly flush: () => Promise<void>;
};

/** Answers for a home that this thread holds: each request is counted, and an error is the answer that its client is given. */
export const openHomeAnswers = (options: HomeAnswersOptions): HomeAnswers => {
  const { home, metrics, page = PAGE, report = () => undefined, closing, recording, env } = options;
  const hider = openPathHider(home.directory);
  const observer = openObserver(home, report);
  closing?.addEventListener('abort', () => void observer.flush(), { once: true });
  const traces = openTraceRecorder(home, { report });
  const handlers = createHandlers(home, { hider, closing, recording, traces, ...defined({ env }) });
  const whole = openEndpointAnswers(handlers, options.questions, (name, actor, input) =>
    actor === undefined ? Promise.resolve() : observer.see(name, nameIn(actor), input),
  );
  // A tenth of a gateway's start, and few ever ask for it.
  let document: string | undefined;
  const others: Readonly<Partial<Record<RouteName, Answerer>>> = {
    ...openLiveStreams(options, hider),
    interventionLines: async (given) =>
      openInterventionLines(
        home,
        inputOf(given, SERVED.interventionLines) as InputOf<Endpoints['interventionLines']>,
      ),
    metrics: async () => ({
      status: 200,
      headers: { 'content-type': metrics.contentType },
      body: await metrics.text(),
    }),
    openApi: async () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: (document ??= toWireJson(openApi(VERSION, SERVED))),
    }),
    traces: (given, client) =>
      answerTraces((input) => handlers.traces(input, { signal: () => signalOf(client) }), given),
    page: () => readPage(page),
    asset: ({ params }) => readAsset(page, params['name'] ?? ''),
  };
  const toAnswer = (raised: unknown): HttpAnswer => {
    const error = redactedError(raised, (text) => home.privacy.redactText(text));
    if (!(error instanceof StemmaError) || error.code === 'E_INTERNAL') report(error);
    return errorAnswer(hider.error(error));
  };
  return {
    flush: () => traces.flush().catch(report),
    ask: async (name, input, client) => {
      const answered = countRequest(metrics, input.method);
      const given = others[name]?.(input, client) ?? whole.ask(name, input, client);
      const answer = await given.catch(toAnswer);
      answered(labelOf(name), answer.status);
      return input.method === 'HEAD' ? headOf(answer) : answer;
    },
  };
};

/** Told of every answer that was asked for in somebody's name. */
type OnAnswered = (
  name: EndpointName,
  actor: string | undefined,
  input: Readonly<Record<string, unknown>>,
) => Promise<void>;

/**
 * Answers the endpoints whose answers are known whole: parses what comes in, and writes what goes out.
 *
 * @param questions answers those that take long; the handlers do unless given
 */
export const openEndpointAnswers = (
  handlers: Partial<Handlers>,
  questions?: HttpAnswers,
  onAnswered: OnAnswered = async () => undefined,
): HttpAnswers => ({
  ask: async (route, given, client) => {
    const name = route as Exclude<EndpointName, StreamedName>;
    const endpoint: Endpoint = SERVED[name];
    const input = inputOf(given, endpoint);
    const handle = handlers[name] as (
      input: unknown,
      client: { signal: () => AbortSignal },
    ) => Promise<unknown>;
    const answer =
      questions !== undefined && HEAVY.has(name)
        ? await questions.ask(name, given, client)
        : answerOf(endpoint, await handle(input, { signal: () => signalOf(client) }));
    await onAnswered(name, given.headers['stemma-actor'], input);
    return answer;
  },
});

const answerOf = ({ answer }: Endpoint, value: unknown): HttpAnswer => {
  if (answer.kind === 'json')
    return {
      status: answer.status,
      headers: { 'content-type': 'application/json' },
      body: toWireJson(value),
    };
  const mime = answer.kind === 'bytes' ? answer.mime : 'text/plain';
  return {
    status: 200,
    headers: {
      'content-type': mime,
      ...(mime.startsWith('text/html') && { 'content-security-policy': REPORT_SECURITY_POLICY }),
    },
    body: value as string | Uint8Array<ArrayBuffer>,
  };
};

/** Headers are ASCII: other letters of a name come percent-encoded. */
const nameIn = (header: string): string => {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
};
