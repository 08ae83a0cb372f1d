import { fail, toWireError, visibleText } from '@stemma/errors';
import { openHome } from '@stemma/home';
import { collectWhenIdle } from '@stemma/machine';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { openGatewayMetrics } from '../gateway-metrics.ts';
import { openGateway } from '../gateway.ts';
import {
  fromResponse,
  isStreamed,
  type HttpAnswer,
  type Pieces,
  type StreamedAnswer,
} from '../front/answer.ts';
import { addDoorCounts } from '../front/door-counts.ts';
import { errorAnswer } from '../front/error-answer.ts';
import { headerIn, pairsOf } from '../front/header-list.ts';
import type { PlainRequest } from '../plain-answers.ts';
import { openPrograms, type ClientPorts } from '../questions-apart/programs.ts';
import { openQuestionPool, type Asker } from '../questions-apart/question-pool.ts';
import { openOutbox } from './outbox.ts';
import { openScopesReader } from '../proxy/steered-scopes.ts';
import { openEntryRecorder } from '../proxy/record-entries.ts';
import type { ProxyBacklog } from '../proxy/open-proxy.ts';
import type { FromHome, HomeThreadOptions, ToHome } from './thread-messages.ts';

/*
 * The thread that holds a home and answers for it. Whatever takes long here — a large command, rows that are made — the
 * thread that holds the connections does not wait for it.
 */
const port = parentPort as MessagePort;
const { home: homeOptions, queryTimeout } = workerData as HomeThreadOptions;
const { put: tell, flush } = openOutbox<FromHome>((messages, moved) => port.postMessage(messages, moved));

type RequestToHome = Extract<ToHome, { kind: 'request' }>;

/** Who asked, as far as that is known while the answer is made. */
type Client = { gone: boolean; aborted: AbortController | undefined };

/** A body in one piece. */
const joined = (pieces: readonly Uint8Array[]): Uint8Array =>
  pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);

/** Answers with this many characters are encoded here and moved: the thread of the connections would do neither in a moment. */
const LARGE = 16 * 1024;

/** Connections whose program is remembered. */
const MAX_CONNECTIONS = 10_000;

const start = async (): Promise<void> => {
  const { metrics, observe, opened } = openGatewayMetrics();
  const repairs: string[] = [];
  const say = (sentence: string): void => console.error(visibleText(sentence));
  const home = await openHome({
    ...homeOptions,
    repairs,
    observe,
    say,
  });
  opened(home);
  const { directory, log, rows } = homeOptions;
  const questions = openQuestionPool({
    home: { directory, ...(log !== undefined && { log }), ...(rows !== undefined && { rows }) },
    catchUp: () => home.catchUp(),
    repairs,
    timeout: queryTimeout,
    ended: (outcome) => metrics.add('stemma_questions_total', { outcome }),
  });
  const programs = openPrograms();
  /** The programs of connections: to look takes a while, and a connection keeps its own. */
  const known = new Map<number, Promise<string>>();
  const programOf = (connection: number, ports: ClientPorts): Promise<string> => {
    const found =
      known.get(connection) ?? programs.find(ports).then((program) => program ?? `connection ${connection}`);
    known.set(connection, found);
    const [oldest] = known.keys();
    if (known.size > MAX_CONNECTIONS && oldest !== undefined) known.delete(oldest);
    return found;
  };
  const askerOf = ({ connection, ports }: Pick<RequestToHome, 'connection' | 'ports'>): Asker => ({
    connection,
    program: () => programOf(connection, ports),
  });
  let counted: ((backlog: ProxyBacklog) => void)[] = [];
  const recording = (): Promise<ProxyBacklog> =>
    new Promise((resolve) => {
      counted.push(resolve);
      tell({ kind: 'count' });
    });
  metrics.beforeScrape(async () => {
    const { calls, bytes, seconds } = await recording();
    metrics.set('stemma_proxied_calls_waiting', {}, calls);
    metrics.set('stemma_proxied_bytes_waiting', {}, bytes);
    metrics.set('stemma_proxied_lag_seconds', {}, seconds);
  });
  const closing = new AbortController();
  const { app, answerPlainly } = openGateway({
    home,
    metrics,
    questions,
    recording,
    closing: closing.signal,
    // The server has looked at the names already.
    hosts: () => true,
    report: (error) => console.error(error),
  });
  const calls = openEntryRecorder(home, say);
  const steering = new Map<number, AbortController>();
  const requests = new Map<number, Client>();
  const streams = new Map<number, Pieces>();

  const answer = async (asked: RequestToHome): Promise<void> => {
    const { id, method, host, target, headers, body } = asked;
    const client: Client = { gone: false, aborted: undefined };
    requests.set(id, client);
    const request = {
      method,
      target,
      header: (name: string) => headerIn(headers, name),
      body: body === null ? null : joined(body),
      // Few answers can be given up half way; a command costs less than a signal takes.
      signal: () => {
        client.aborted ??= new AbortController();
        if (client.gone) client.aborted.abort();
        return client.aborted.signal;
      },
      asker: askerOf(asked),
    };
    const plain = answerPlainly(request);
    const given = await (plain ?? answerOnTheWeb(request, `http://${host}${target}`, headers));
    if ('pieces' in given) {
      streams.set(id, given.pieces);
      tell({ kind: 'response', id, status: given.status, headers: given.headers, body: undefined });
      if (client.gone) drop(id);
      return;
    }
    requests.delete(id);
    if (typeof given.body === 'string' && given.body.length >= LARGE) {
      const body = new TextEncoder().encode(given.body);
      tell({ kind: 'response', id, ...given, body }, [body.buffer]);
    } else tell({ kind: 'response', id, ...given });
  };
  /** What no endpoint answers whole: the page, streams, and addresses that have to be decoded. */
  const answerOnTheWeb = async (
    { method, body, signal, asker }: PlainRequest,
    url: string,
    headers: RequestToHome['headers'],
  ): Promise<HttpAnswer | StreamedAnswer> => {
    try {
      const init = {
        method,
        headers: pairsOf(headers),
        body: body as Uint8Array<ArrayBuffer> | null,
      };
      return await fromResponse(
        await app.fetch(new Request(url, { ...init, signal: signal() }), { asker }),
        isStreamed,
      );
    } catch {
      return errorAnswer(fail('E_USAGE', 'the request names no address of this server'));
    }
  };
  const pull = async (id: number): Promise<void> => {
    const pieces = streams.get(id);
    if (pieces === undefined) return;
    let broken = false;
    const value = await pieces.next().catch(() => void (broken = true));
    // A piece may be a view of memory that others use: it is copied, not moved.
    if (value !== undefined) tell({ kind: 'piece', id, bytes: value as Uint8Array<ArrayBuffer> });
    else {
      tell({ kind: 'end', id, broken });
      forget(id);
    }
  };
  const forget = (id: number): void => {
    requests.delete(id);
    streams.delete(id);
  };
  const drop = (id: number): void => {
    const pieces = streams.get(id);
    const client = requests.get(id);
    if (client !== undefined) {
      client.gone = true;
      client.aborted?.abort();
    }
    forget(id);
    pieces?.cancel();
  };
  const close = async (): Promise<void> => {
    calls.close();
    questions.close();
    await home.close();
    flush();
    process.exit(0);
  };

  const scopes = openScopesReader(home, closing.signal, (steered) =>
    tell({ kind: 'steeredScopes', steered }),
  );
  const noteWork = collectWhenIdle();
  const hear = (message: ToHome): void => {
    switch (message.kind) {
      case 'request':
        noteWork();
        void answer(message);
        break;
      case 'pull':
        void pull(message.id);
        break;
      case 'cancel':
        drop(message.id);
        break;
      case 'call':
        noteWork();
        void calls.record(message.ref, message.left, message.end).then((outcome) => {
          if (outcome !== undefined) tell({ kind: 'recorded', id: message.id, outcome });
        });
        break;
      case 'steer': {
        const { id, entry, body } = message;
        const gone = new AbortController();
        steering.set(id, gone);
        void calls.steer(entry, body, gone.signal).then((outcome) => {
          steering.delete(id);
          tell({ kind: 'steered', id, outcome });
        });
        break;
      }
      case 'readScopes':
        void scopes.then(({ refresh }) => refresh()).then(() => tell({ kind: 'scopesRead', id: message.id }));
        break;
      case 'steerGone':
        steering.get(message.id)?.abort();
        break;
      case 'counted':
        addDoorCounts(metrics, message.counts);
        for (const done of counted) done(message.backlog);
        counted = [];
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
  tell({ kind: 'opened', redacts: home.redacts, steered: first });
};

start().catch((error: unknown) => {
  tell({ kind: 'refused', error: toWireError(error) });
});
