import { visibleText } from '@stemma/errors';
import { openHome } from '@stemma/home';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { openGatewayMetrics } from '../gateway-metrics.ts';
import { createGateway } from '../gateway.ts';
import { addDoorCounts } from '../front/door-counts.ts';
import { openPrograms, type ClientPorts } from '../questions-apart/programs.ts';
import { openQuestionPool, type Asker } from '../questions-apart/question-pool.ts';
import { toWireError } from '../wire-error.ts';
import type { FromHome, HomeThreadOptions, ToHome } from './thread-messages.ts';

/*
 * The thread that holds a home and answers for it. Whatever takes long here — a large command, rows that are made — the
 * thread that holds the connections does not wait for it.
 */
const port = parentPort as MessagePort;
const { home: homeOptions, queryTimeout } = workerData as HomeThreadOptions;
const tell = (message: FromHome, transfer: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, [...transfer]);

type RequestToHome = Extract<ToHome, { kind: 'request' }>;

/** Connections whose program is remembered. */
const MAX_CONNECTIONS = 10_000;

/** Answers whose pieces are made as the client takes them. */
const STREAMED = /^(text\/event-stream|application\/jsonl|text\/csv)/;

const start = async (): Promise<void> => {
  const { metrics, observe, opened } = openGatewayMetrics();
  const home = await openHome({
    ...homeOptions,
    observe,
    say: (sentence) => console.error(visibleText(sentence)),
  });
  opened(home);
  const { directory, log, rows } = homeOptions;
  const questions = openQuestionPool({
    home: { directory, ...(log !== undefined && { log }), ...(rows !== undefined && { rows }) },
    catchUp: () => home.catchUp(),
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
  let counted: (() => void)[] = [];
  metrics.beforeScrape(async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    counted.push(() => resolve(undefined));
    tell({ kind: 'count' });
    await promise;
  });
  const closing = new AbortController();
  const app = createGateway({
    home,
    metrics,
    questions,
    closing: closing.signal,
    // The server has looked at the names already.
    hosts: () => true,
    report: (error) => console.error(error),
  });
  const requests = new Map<number, AbortController>();
  const streams = new Map<number, ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>>();

  const answer = async ({ id, method, url, headers, body, ...from }: RequestToHome): Promise<void> => {
    const gone = new AbortController();
    requests.set(id, gone);
    const request = new Request(url, {
      method,
      headers: [...headers] as [string, string][],
      body: body === null ? null : new Uint8Array(Buffer.concat(body)),
      signal: gone.signal,
    });
    const response = await app.fetch(request, { asker: askerOf(from) });
    const { status } = response;
    const responseHeaders = [...response.headers];
    if (response.body !== null && STREAMED.test(response.headers.get('content-type') ?? '')) {
      streams.set(id, response.body.getReader() as ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>);
      tell({ kind: 'response', id, status, headers: responseHeaders, body: undefined });
      if (gone.signal.aborted) await drop(id);
      return;
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    requests.delete(id);
    tell({ kind: 'response', id, status, headers: responseHeaders, body: bytes }, [bytes.buffer]);
  };
  const pull = async (id: number): Promise<void> => {
    const reader = streams.get(id);
    if (reader === undefined) return;
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    // A piece may be a view of memory that others use: it is copied, not moved.
    if (!done && value !== undefined) tell({ kind: 'piece', id, bytes: value });
    else {
      tell({ kind: 'end', id, broken: !done });
      forget(id);
    }
  };
  const forget = (id: number): void => {
    requests.delete(id);
    streams.delete(id);
  };
  const drop = async (id: number): Promise<void> => {
    const reader = streams.get(id);
    requests.get(id)?.abort();
    forget(id);
    await reader?.cancel().catch(() => undefined);
  };
  const close = async (): Promise<void> => {
    questions.close();
    await home.close();
    process.exit(0);
  };

  port.on('message', (message: ToHome) => {
    switch (message.kind) {
      case 'request':
        void answer(message);
        break;
      case 'pull':
        void pull(message.id);
        break;
      case 'cancel':
        void drop(message.id);
        break;
      case 'counted':
        addDoorCounts(metrics, message.counts);
        for (const done of counted) done();
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
  });
  tell({ kind: 'opened' });
};

start().catch((error: unknown) => {
  tell({ kind: 'refused', error: toWireError(error) });
});
