import { openHome } from '@stemma/home';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { openGatewayMetrics } from '../gateway-metrics.ts';
import { createGateway } from '../gateway.ts';
import { openQuestionPool } from '../questions-apart/question-pool.ts';
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

/** Answers whose pieces are made as the client takes them. */
const STREAMED = /^(text\/event-stream|application\/jsonl|text\/csv)/;

const start = async (): Promise<void> => {
  const { metrics, observe, opened } = openGatewayMetrics();
  const home = await openHome({ ...homeOptions, observe });
  opened(home);
  const { directory, log, rows } = homeOptions;
  const questions = openQuestionPool({
    home: { directory, ...(log !== undefined && { log }), ...(rows !== undefined && { rows }) },
    catchUp: () => home.catchUp(),
    timeout: queryTimeout,
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

  const answer = async ({
    id,
    method,
    url,
    headers,
    body,
    client,
  }: Extract<ToHome, { kind: 'request' }>): Promise<void> => {
    const gone = new AbortController();
    requests.set(id, gone);
    const request = new Request(url, {
      method,
      headers: [...headers] as [string, string][],
      body: body === null ? null : new Uint8Array(Buffer.concat(body)),
      signal: gone.signal,
    });
    const response = await app.fetch(request, { client });
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
