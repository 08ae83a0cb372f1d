import { toWireError, visibleText } from '@stemma/errors';
import { openHome, type Home } from '@stemma/home';
import { collectWhenIdle } from '@stemma/machine';
import type { Metrics } from '@stemma/metrics';
import { defined } from '@stemma/values';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { addDoorCounts } from '../front/door-counts.ts';
import { openGatewayMetrics } from '../gateway-metrics.ts';
import { openHomeAnswers } from '../home-answers.ts';
import type { ProxyBacklog } from '../proxy/open-proxy.ts';
import { openEntryRecorder, type EntryRecorder } from '../proxy/record-entries.ts';
import { openScopesReader } from '../proxy/steered-scopes.ts';
import { openQuestionPool, type QuestionPool } from '../questions-apart/question-pool.ts';
import { openAskedAnswerer } from './answer-asked.ts';
import { openOutbox } from './outbox.ts';
import type { FromHome, HomeThreadOptions, ToHome } from './thread-messages.ts';

/*
 * The thread that holds a home and answers for it. Whatever takes long here — a large command, rows that are made — the
 * thread that holds the connections does not wait for it.
 */
const port = parentPort as MessagePort;
const { home: homeOptions, queryTimeout } = workerData as HomeThreadOptions;
const { put: tell, flush } = openOutbox<FromHome>((messages, moved) => port.postMessage(messages, moved));

const say = (sentence: string): void => console.error(visibleText(sentence));

const openQuestions = (home: Home, metrics: Metrics, repairs: readonly string[]): QuestionPool => {
  const { directory, log, rows } = homeOptions;
  return openQuestionPool({
    home: { directory, ...defined({ log, rows }) },
    catchUp: () => home.catchUp(),
    repairs,
    timeout: queryTimeout,
    ended: (outcome) => metrics.add('stemma_questions_total', { outcome }),
  });
};

/** What is counted and waits at the door: asked for when somebody reads metrics, or how the service does. */
const openDoorReader = (metrics: Metrics) => {
  let waiting: ((backlog: ProxyBacklog) => void)[] = [];
  const backlog = (): Promise<ProxyBacklog> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      tell({ kind: 'count' });
    });
  metrics.beforeScrape(async () => {
    const { calls, bytes, seconds } = await backlog();
    metrics.set('stemma_proxied_calls_waiting', {}, calls);
    metrics.set('stemma_proxied_bytes_waiting', {}, bytes);
    metrics.set('stemma_proxied_lag_seconds', {}, seconds);
  });
  return {
    backlog,
    hear: (message: Extract<ToHome, { kind: 'counted' }>): void => {
      addDoorCounts(metrics, message.counts);
      for (const done of waiting) done(message.backlog);
      waiting = [];
    },
  };
};

/** Records the calls of the proxy, and steers them. */
const openCalls = (calls: EntryRecorder) => {
  const steering = new Map<number, AbortController>();
  return (message: Extract<ToHome, { kind: 'call' | 'steer' | 'steerGone' }>): void => {
    const { id } = message;
    if (message.kind === 'steerGone') steering.get(id)?.abort();
    else if (message.kind === 'call')
      void calls.record(message.ref, message.left, message.end).then((outcome) => {
        if (outcome !== undefined) tell({ kind: 'recorded', id, outcome });
      });
    else {
      const gone = new AbortController();
      steering.set(id, gone);
      void calls.steer(message.entry, message.body, gone.signal, message.change).then((outcome) => {
        steering.delete(id);
        tell({ kind: 'steered', id, outcome });
      });
    }
  };
};

const start = async (): Promise<void> => {
  const { metrics, observe, opened } = openGatewayMetrics();
  const repairs: string[] = [];
  const home = await openHome({ ...homeOptions, repairs, observe, say });
  opened(home);
  const questions = openQuestions(home, metrics, repairs);
  const door = openDoorReader(metrics);
  const closing = new AbortController();
  const answers = openHomeAnswers({
    home,
    metrics,
    questions,
    recording: door.backlog,
    closing: closing.signal,
    report: (error) => console.error(error),
  });
  const asked = openAskedAnswerer(answers, tell);
  const entries = openEntryRecorder(home, say);
  const hearCall = openCalls(entries);
  const scopes = openScopesReader(home, closing.signal, (steered) =>
    tell({ kind: 'steeredScopes', steered }),
  );
  const close = async (): Promise<void> => {
    entries.close();
    questions.close();
    await answers.flush();
    await home.close();
    flush();
    process.exit(0);
  };
  const noteWork = collectWhenIdle();
  const hear = (message: ToHome): void => {
    switch (message.kind) {
      case 'ask':
        noteWork();
        asked.hear(message);
        break;
      case 'pull':
      case 'cancel':
        asked.hear(message);
        break;
      case 'call':
        noteWork();
        hearCall(message);
        break;
      case 'steer':
      case 'steerGone':
        hearCall(message);
        break;
      case 'readScopes':
        void scopes.then(({ refresh }) => refresh()).then(() => tell({ kind: 'scopesRead', id: message.id }));
        break;
      case 'counted':
        door.hear(message);
        break;
      case 'ping':
        tell({ kind: 'pong' });
        break;
      case 'closing':
        closing.abort();
        break;
      case 'close':
        void close();
    }
  };
  port.on('message', (messages: readonly ToHome[]) => messages.forEach(hear));
  const { first } = await scopes;
  tell({ kind: 'opened', redacts: home.privacy.redacts, steered: first });
};

start().catch((error: unknown) => {
  tell({ kind: 'refused', error: toWireError(error) });
});
