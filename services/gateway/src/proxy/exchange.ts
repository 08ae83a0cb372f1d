import { apiOf } from '@stemma/model-apis';
import { randomUUID } from 'node:crypto';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { answerAndClose } from '../front/answer-and-close.ts';
import { upstreamTarget, type ProxyAddress } from './address.ts';
import { openCapture, type Capture } from './capture.ts';
import type { EndedEntry, StartedEntry } from './entry.ts';
import { abortedAnswer } from './aborted-answer.ts';
import { forwardedHeaders, headersOfBody, requestHeaders } from './headers.ts';
import { upstreamError, upstreamErrorBody, upstreamRequest } from './upstream-request.ts';

/** Hears of a call. What `ended` returns is waited for before the client learns that the answer is complete. */
export type CallNotes = {
  started(entry: StartedEntry, body: readonly Uint8Array[]): void;
  ended(entry: Omit<EndedEntry, 'branch'>, body: readonly Uint8Array[]): Promise<void>;
  /** Undefined: nobody steers calls like this one, so its bytes go on as they come. */
  readonly steer:
    | ((entry: StartedEntry, body: readonly Uint8Array[], gone: AbortSignal) => Promise<RequestToSend>)
    | undefined;
};

/** A request that observers may steer: it is sent with this body (null: that which came), or not at all. */
export type RequestToSend =
  | { readonly kind: 'send'; readonly body: Uint8Array | null }
  | { readonly kind: 'ended'; readonly message: string };

type Ending = Pick<EndedEntry, 'status' | 'error'>;

/**
 * Sends a request on, and its answer back: the same bytes both ways, as they come. A client that goes takes the upstream's
 * request with it; what the upstream cuts off is cut off for the client.
 */
export const exchange = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  address: ProxyAddress,
  upstream: URL,
  notes: CallNotes,
): void => {
  const { method = 'GET', rawHeaders, headers } = incoming;
  const path = upstreamTarget(upstream, address);
  const [plainPath = ''] = path.split('?', 1);
  const api = apiOf(method, plainPath);
  const isCall = api !== 'other';
  const id = `call-${randomUUID()}`;
  const sent = openCapture();
  const answered = openCapture();
  let began = performance.now();
  /** Null while observers may hold it. */
  let sentAt = isCall && notes.steer !== undefined ? null : Date.now();
  let isSentNoted = false;
  // Rounded down, as the time at which it began is: of two calls the first ends before the second begins.
  const elapsed = (): number => Math.floor(performance.now() - began);
  let firstByteMs: number | null = null;
  let response: IncomingMessage | undefined;
  let isNoted = false;
  let isOver = false;

  const startedEntry = (): StartedEntry => {
    const coding = headers['content-encoding'] ?? null;
    isSentNoted = sentAt !== null;
    return {
      kind: 'started',
      id,
      place: address.place,
      method,
      path: plainPath,
      origin: upstream.origin,
      contentType: headers['content-type'] ?? null,
      sentAt,
      coding,
      ...wholeOf(sent),
    };
  };
  const noteStart = (): void => {
    if (!isCall || isNoted) return;
    isNoted = true;
    notes.started(startedEntry(), sent.pieces());
  };
  const noteEnd = async ({ status, error }: Ending): Promise<void> => {
    if (isOver) return;
    isOver = true;
    if (!isCall) return;
    noteStart();
    await notes.ended(
      {
        kind: 'ended',
        id,
        method,
        path: plainPath,
        status,
        httpStatus: response?.statusCode ?? null,
        contentType: response?.headers['content-type'] ?? null,
        coding: response?.headers['content-encoding'] ?? null,
        retryAfter: response?.headers['retry-after'] ?? null,
        sentAt: isSentNoted ? null : sentAt,
        ...wholeOf(answered),
        firstByteMs,
        durationMs: elapsed(),
        error,
      },
      answered.pieces(),
    );
  };

  let passed: ClientRequest | undefined;
  const fail = (error: EndedEntry['error'] & object): void => {
    if (isOver) return;
    const status = error.code === 'ETIMEDOUT' ? 'timed out' : 'failed';
    void noteEnd({ status, error }).then(() => {
      if (outgoing.headersSent) {
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(502, 'Bad Gateway', { 'content-type': 'application/json', connection: 'close' });
      outgoing.end(upstreamErrorBody(error));
    });
  };
  const answer = (received: IncomingMessage): void => {
    const { statusCode = 0, statusMessage = '', rawHeaders: raw } = received;
    try {
      if (statusCode < 200) throw new RangeError('it is no status of an answer');
      outgoing.writeHead(statusCode, statusMessage, forwardedHeaders(raw, 'response'));
    } catch {
      received.destroy();
      fail({ code: null, message: `the upstream's answer has a head that is none (status ${statusCode})` });
      return;
    }
    response = received;
    // Sent at once, and each character of its headers as the byte that it was.
    outgoing.write(NO_BYTES);
    const declared = Number(received.headers['content-length'] ?? Number.NaN);
    let size = 0;
    let held: Buffer | undefined;
    received.on('data', (piece: Buffer) => {
      firstByteMs ??= elapsed();
      if (isCall) answered.add(piece);
      size += piece.length;
      // The last piece of a known length is the end for the client: it waits until the call is noted.
      if (isCall && size === declared) held = piece;
      else if (!outgoing.write(piece)) {
        received.pause();
        outgoing.once('drain', () => received.resume());
      }
    });
    received.on('end', () => {
      if (!received.complete) return;
      // Whatever else the request says changes nothing any more.
      if (!incoming.complete) passed?.destroy();
      void noteEnd(endingOf(statusCode)).then(() => {
        outgoing.addTrailers(pairsOf(received.rawTrailers));
        outgoing.end(held);
      });
    });
    received.on('close', () => {
      if (!received.complete)
        fail({
          code: 'ECONNRESET',
          message: 'the upstream ended the connection in the middle of its answer',
        });
    });
  };
  const connect = (forwarded: readonly string[]): ClientRequest => {
    const made = upstreamRequest(upstream, { method, path, headers: forwarded });
    made.on('response', answer);
    made.on('information', ({ statusCode, rawHeaders: raw }) => {
      // Whoever waits to be told to go on has been told so already; HTTP/1.0 knows none of them.
      if (statusCode === 100 || incoming.httpVersion === '1.0' || outgoing.headersSent) return;
      outgoing.writeInformation(statusCode, forwardedHeaders(raw, 'response'));
    });
    made.on('upgrade', (_, socket) => {
      socket.destroy();
      fail({ code: null, message: 'the upstream changed to another protocol, which nobody asked for' });
    });
    made.on('error', ({ code }: NodeJS.ErrnoException) => fail(upstreamError(code)));
    passed = made;
    return made;
  };
  const passOn = (): ClientRequest => {
    const made = connect(requestHeaders(method, rawHeaders));
    made.once('close', () => incoming.resume());
    incoming.on('data', (piece: Buffer) => {
      // What nobody takes is read all the same: a client that sends all before it reads an answer gets it.
      if (made.destroyed) return;
      if (isCall) sent.add(piece);
      if (!made.write(piece)) {
        incoming.pause();
        made.once('drain', () => incoming.resume());
      }
    });
    incoming.on('end', () => {
      if (made.destroyed) return;
      noteStart();
      made.addTrailers(pairsOf(incoming.rawTrailers));
      made.end();
    });
    return made;
  };
  /** Waits for the whole request, and sends what observers make of it. */
  const steered = (steer: NonNullable<CallNotes['steer']>): void => {
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const onData = (piece: Buffer): void => {
      const before = sent.pieces();
      sent.add(piece);
      if (sent.unkept() === undefined) return;
      // It is larger than what can be steered or recorded: it goes on as it comes.
      incoming.off('data', onData).off('end', onEnd);
      sentAt = Date.now();
      began = performance.now();
      const made = passOn();
      for (const each of before) made.write(each);
      made.write(piece);
    };
    const onEnd = (): void => {
      isNoted = true;
      void steer(startedEntry(), sent.pieces(), gone.signal).then((outcome) => {
        if (outcome.kind === 'ended') {
          isOver = true;
          if (!outgoing.destroyed) answerAndClose(outgoing, abortedAnswer(api, outcome.message));
          return;
        }
        began = performance.now();
        sentAt = Date.now();
        if (gone.signal.aborted) {
          void noteEnd(GONE);
          return;
        }
        const { body } = outcome;
        const forwarded = requestHeaders(method, rawHeaders);
        const made = connect(body === null ? forwarded : headersOfBody(forwarded, body.length));
        if (body === null) for (const piece of sent.pieces()) made.write(piece);
        else made.write(body);
        made.end();
      });
    };
    incoming.on('data', onData).on('end', onEnd);
  };
  if (isCall && notes.steer !== undefined) steered(notes.steer);
  else passOn();

  outgoing.on('close', () => {
    if (outgoing.writableFinished || isOver || (passed === undefined && isNoted)) return;
    void noteEnd(GONE);
    passed?.destroy();
  });
};

const NO_BYTES = new Uint8Array();

const pairsOf = (raw: readonly string[]): [string, string][] => {
  const pairs: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i] as string, raw[i + 1] as string]);
  return pairs;
};

const wholeOf = (body: Capture): Pick<StartedEntry, 'whole' | 'unkept'> => {
  const unkept = body.unkept();
  return unkept === undefined ? { whole: true } : { whole: false, unkept };
};

const GONE: Ending = {
  status: 'cancelled',
  error: { code: null, message: 'the client ended the connection' },
};

const endingOf = (httpStatus: number): Ending => {
  if (httpStatus < 400) return { status: 'answered', error: null };
  return { status: httpStatus === 408 || httpStatus === 504 ? 'timed out' : 'failed', error: null };
};
