import { openRuns } from '@stemma/agent-loop';
import { openAnswers, openPathHider, type PathHider } from '@stemma/answers';
import {
  type AnswerOf,
  type EndpointName,
  type Endpoints,
  type InputOf,
  type StreamedName,
} from '@stemma/api';
import { fail } from '@stemma/errors';
import { openTraceRecorder, type TraceRecorder } from '@stemma/exchanges';
import type { Home } from '@stemma/home';
import { checkReady } from '@stemma/metrics';
import { openAllowedMinds } from '@stemma/model-clients';
import { poolHandlers } from './pools.ts';
import { auditHandlers } from './audit.ts';
import { branchHandlers } from './branches.ts';
import { doCommand, startHistory } from './commands.ts';
import { correctionHandlers } from './corrections.ts';
import { exchangeHandlers } from './exchanges.ts';
import { recordCallHandler } from './record-call.ts';
import type { ProxyBacklog } from './proxy/open-proxy.ts';
import type { RequestClient } from './request-client.ts';
import { steeringHandlers } from './steering.ts';
import { traceHandlers } from './traces/trace-handlers.ts';

/** What answers each endpoint but those whose answers are made as the client takes them. */
export type Handlers = {
  readonly [Name in Exclude<EndpointName, StreamedName>]: (
    input: InputOf<Endpoints[Name]>,
    client: RequestClient,
  ) => Promise<AnswerOf<Endpoints[Name]>>;
};

export type HandlerOptions = {
  /** Readiness ends when it aborts. */
  readonly closing?: AbortSignal | undefined;
  readonly hider?: PathHider;
  /** What the proxy in front of the home has still to record. */
  readonly recording?: (() => Promise<ProxyBacklog>) | undefined;
  /** Records the calls among the spans that programs send; one of its own unless given. */
  readonly traces?: TraceRecorder;
  /** Which minds may be asked, where they are, and their keys. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
};

export const createHandlers = (
  home: Home,
  {
    closing,
    hider = openPathHider(home.directory),
    recording,
    traces = openTraceRecorder(home),
    env = process.env,
  }: HandlerOptions = {},
): Handlers => {
  const runs = openRuns(home, { env, allow: openAllowedMinds(env), ...(closing && { closing }) });

  return {
    ...openAnswers(home, hider).byName,
    recordCall: recordCallHandler(home),
    ...correctionHandlers(home),
    continueBranch: (input, { signal }) => runs.continueBranch(input, signal()),
    retryCall: (input, { signal }) => runs.retryCall(input, signal()),
    ...steeringHandlers(home),
    ...exchangeHandlers(home),
    ...traceHandlers(traces),
    ...auditHandlers(home),
    ...branchHandlers(home),
    ...poolHandlers(home, { env, closing }),
    start: ({ body }) => startHistory(home, body),
    command: async ({ history, body }) => doCommand(home, history, body),
    healthLive: async () => ({ status: 'ok' }),
    healthReady: async () => {
      // Clients should stop sending requests before the last ones are finished.
      if (closing?.aborted === true) throw fail('E_BUSY', 'it is ending');
      await checkReady(() => home.operations.ready());
      return { status: 'ready', ...(recording && { recording: await recording() }) };
    },
  };
};
