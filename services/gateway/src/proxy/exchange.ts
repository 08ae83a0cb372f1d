import { apiOf, type ModelApi } from '@stemma/model-apis';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { answerAndClose } from '../front/answer-and-close.ts';
import { abortedAnswer, tooLargeAnswer } from './aborted-answer.ts';
import type { CallRoute } from './address.ts';
import type { EndedEntry } from './entry.ts';
import { ExchangeNotes, type CallNotes, type ExchangeEnding, type RequestToSend } from './exchange-notes.ts';
import { forwardedHeaders, headersForOther, headersOfBody, requestHeaders } from './headers.ts';
import { sendReply } from './send-reply.ts';
import { addTrailers, writeHead } from './write-head.ts';
import { upstreamError, upstreamErrorBody, upstreamRequest } from './upstream-request.ts';

/**
 * Sends a request on, and its answer back: the same bytes both ways, as they come. A client that goes takes the upstream's
 * request with it; what the upstream cuts off is cut off for the client.
 */
export const exchange = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  route: CallRoute,
  notes: CallNotes,
): void => new Exchange(incoming, outgoing, route, notes).begin(notes.steer);

/** A request of a client, and the one of the proxy that it goes on with. */
class Exchange {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #upstream: URL;
  readonly #method: string;
  readonly #target: string;
  readonly #api: ModelApi;
  readonly #notes: ExchangeNotes;
  /** Undefined while observers may hold it. */
  #passed: ClientRequest | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, route: CallRoute, notes: CallNotes) {
    const { method = 'GET' } = incoming;
    const { upstream, target } = route;
    const [path = ''] = target.split('?', 1);
    const api = apiOf(method, path);
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#upstream = upstream;
    this.#method = method;
    this.#target = target;
    this.#api = api;
    this.#notes = new ExchangeNotes(incoming, { method, path, api, route }, notes);
  }

  /** @param steer undefined: nobody steers it */
  begin(steer: CallNotes['steer']): void {
    if (this.#notes.isSteerable && steer !== undefined) this.#steer(steer);
    else this.#passRequest();
    this.#outgoing.on('close', () => this.#clientClosed());
  }

  /** Waits for the whole request, and sends what observers make of it. */
  #steer(steer: NonNullable<CallNotes['steer']>): void {
    const incoming = this.#incoming;
    const notes = this.#notes;
    const gone = new AbortController();
    this.#outgoing.on('close', () => gone.abort());
    const onData = (piece: Buffer): void => {
      const before = notes.sent.pieces();
      notes.sent.add(piece);
      if (notes.sent.unkept() === undefined) return;
      if (notes.isClosed) {
        incoming.off('data', onData).off('end', onEnd);
        notes.markEnded();
        answerAndClose(this.#outgoing, tooLargeAnswer(this.#api));
        return;
      }
      // It is larger than what can be steered or recorded: it goes on as it comes.
      incoming.off('data', onData).off('end', onEnd);
      notes.markSent();
      const made = this.#passRequest();
      for (const each of before) made.write(each);
      made.write(piece);
    };
    const onEnd = (): void =>
      void notes.steer(steer, gone.signal).then((outcome) => this.#sendSteered(outcome, gone.signal));
    incoming.on('data', onData).on('end', onEnd);
  }

  #sendSteered(outcome: RequestToSend, gone: AbortSignal): void {
    const notes = this.#notes;
    if (outcome.kind === 'ended') {
      notes.markEnded();
      if (!this.#outgoing.destroyed)
        answerAndClose(this.#outgoing, abortedAnswer(this.#api, outcome.message));
      return;
    }
    if (outcome.kind === 'served') {
      notes.markEnded();
      sendReply(this.#outgoing, outcome.reply);
      return;
    }
    notes.markSent();
    if (gone.aborted) {
      void notes.noteEnd(GONE);
      return;
    }
    const { body, to } = outcome;
    const { host } = to?.url ?? this.#upstream;
    const came = requestHeaders(this.#incoming, host);
    const forwarded = to === undefined ? came : headersForOther(came, to, this.#upstream);
    const made = this.#connect(body === null ? forwarded : headersOfBody(forwarded, body.length), to?.url);
    if (body === null) for (const piece of notes.sent.pieces()) made.write(piece);
    else made.write(body);
    made.end();
  }

  #passRequest(): ClientRequest {
    const incoming = this.#incoming;
    const made = this.#connect(requestHeaders(incoming, this.#upstream.host));
    made.once('close', () => incoming.resume());
    incoming.on('data', (piece: Buffer) => {
      // What nobody takes is read all the same: a client that sends all before it reads an answer gets it.
      if (made.destroyed) return;
      if (this.#notes.isCall) this.#notes.sent.add(piece);
      if (!made.write(piece)) {
        incoming.pause();
        made.once('drain', () => incoming.resume());
      }
    });
    incoming.on('end', () => {
      if (made.destroyed) return;
      this.#notes.noteStart();
      addTrailers(made, incoming.rawTrailers);
      made.end();
    });
    return made;
  }

  #connect(headers: readonly string[], url = this.#upstream): ClientRequest {
    const path = url === this.#upstream ? this.#target : url.pathname + url.search;
    const made = upstreamRequest(url, { method: this.#method, path, headers });
    made.on('response', (received) => this.#notes.whenBegun(() => this.#passAnswer(received)));
    made.on('information', ({ statusCode, rawHeaders }) => {
      // Whoever waits to be told to go on has been told so already; HTTP/1.0 knows none of them.
      if (statusCode === 100 || this.#incoming.httpVersion !== '1.1' || this.#outgoing.headersSent) return;
      this.#outgoing.writeInformation(statusCode, forwardedHeaders(rawHeaders, 'response'));
    });
    made.on('upgrade', (_, socket) => {
      socket.destroy();
      this.#fail({ code: null, message: 'the upstream changed to another protocol, which nobody asked for' });
    });
    made.on('error', ({ code }: NodeJS.ErrnoException) => this.#fail(upstreamError(code)));
    this.#passed = made;
    return made;
  }

  #passAnswer(received: IncomingMessage): void {
    if (received.destroyed) {
      this.#fail(CUT_OFF);
      return;
    }
    if (!this.#passHead(received)) return;
    const outgoing = this.#outgoing;
    const declared = Number(received.headers['content-length'] ?? Number.NaN);
    let size = 0;
    let held: Buffer | undefined;
    received.on('data', (piece: Buffer) => {
      size += piece.length;
      // The last piece of a known length is the end for the client: it waits until the call is noted.
      const isLast = this.#notes.isCall && size === declared;
      this.#notes.addAnswered(piece, isLast);
      if (isLast) held = piece;
      else if (!outgoing.write(piece)) {
        received.pause();
        outgoing.once('drain', () => received.resume());
      }
    });
    received.on('end', () => {
      if (!received.complete) return;
      // Whatever else the request says changes nothing any more.
      if (!this.#incoming.complete) this.#passed?.destroy();
      void this.#notes.noteEnd(endingOf(received.statusCode ?? 0)).then(() => {
        addTrailers(outgoing, received.rawTrailers);
        outgoing.end(held);
      });
    });
    received.on('close', () => {
      if (!received.complete) this.#fail(CUT_OFF);
    });
  }

  /** @returns false if it is no head that the client can get */
  #passHead(received: IncomingMessage): boolean {
    const { statusCode = 0, statusMessage = '', rawHeaders } = received;
    try {
      if (statusCode < 200) throw new RangeError('it is no status of an answer');
      writeHead(this.#outgoing, statusCode, statusMessage, forwardedHeaders(rawHeaders, 'response'));
    } catch {
      received.destroy();
      this.#fail({
        code: null,
        message: `the upstream's answer has a head that is none (status ${statusCode})`,
      });
      return false;
    }
    this.#notes.markAnswered(received);
    // Sent at once, and each character of its headers as the byte that it was.
    this.#outgoing.write(NO_BYTES);
    return true;
  }

  #fail(error: EndedEntry['error'] & object): void {
    if (this.#notes.isOver) return;
    const outgoing = this.#outgoing;
    const status = error.code === 'ETIMEDOUT' ? 'timed out' : 'failed';
    void this.#notes.noteEnd({ status, error }).then(() => {
      if (outgoing.headersSent) {
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(502, 'Bad Gateway', { 'content-type': 'application/json', connection: 'close' });
      outgoing.end(upstreamErrorBody(error));
    });
  }

  #clientClosed(): void {
    const { isOver, isStartNoted } = this.#notes;
    if (this.#outgoing.writableFinished || isOver || (this.#passed === undefined && isStartNoted)) return;
    void this.#notes.noteEnd(GONE);
    this.#passed?.destroy();
  }
}

const NO_BYTES = new Uint8Array();

const CUT_OFF = {
  code: 'ECONNRESET',
  message: 'the upstream ended the connection in the middle of its answer',
};

const GONE: ExchangeEnding = {
  status: 'cancelled',
  error: { code: null, message: 'the client ended the connection' },
};

const endingOf = (httpStatus: number): ExchangeEnding => {
  if (httpStatus < 400) return { status: 'answered', error: null };
  return { status: httpStatus === 408 || httpStatus === 504 ? 'timed out' : 'failed', error: null };
};
