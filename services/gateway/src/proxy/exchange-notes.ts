import { hashOfSession, sessionInHeaders, type ModelApi } from '@stemma/model-apis';
import type { CallReply, LiveUpstream } from '@stemma/reruns';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { CallRoute } from './address.ts';
import { openCapture, type Capture } from './capture.ts';
import type { EndedEntry, StartedEntry } from './entry.ts';
import { isRecordedRequest, providerCallId } from './provider-call.ts';
import type { UnendedHead, UnendedCall } from './unended-calls.ts';

/** Hears of a call. What `ended` returns is waited for before the client learns that the answer is complete. */
export type CallNotes = {
  /** @returns resolves when it is noted, or cannot be; undefined: nothing of it is */
  started(entry: StartedEntry, body: readonly Uint8Array[]): Promise<unknown> | undefined;
  /** The client is about to be given a piece of the answer of the call with this id. */
  given(id: string, ...piece: Parameters<UnendedCall['given']>): void;
  ended(entry: Omit<EndedEntry, 'branch'>, body: readonly Uint8Array[]): Promise<void>;
  /** Undefined: nobody steers calls like this one, so its bytes go on as they come. */
  readonly steer:
    | ((entry: StartedEntry, body: readonly Uint8Array[], gone: AbortSignal) => Promise<RequestToSend>)
    | undefined;
  /** Hears of a request that goes on and is not recorded. */
  readonly passed?: (method: string, path: string) => void;
  /** True: no request goes on of which `steer` has not said so. Default: one that is too large does. */
  readonly isClosed?: boolean;
};

/** A request that observers may steer, or a rerun answers: it is sent with this body (null: that which came), or not at all. */
export type RequestToSend =
  | { readonly kind: 'send'; readonly body: Uint8Array | null; readonly to?: LiveUpstream }
  | { readonly kind: 'ended'; readonly message: string }
  /** Something recorded answers it. */
  | { readonly kind: 'served'; readonly reply: Extract<CallReply, { readonly kind: 'served' }> };

/** How an exchange ended. */
export type ExchangeEnding = Pick<EndedEntry, 'status' | 'error'>;

/** How an answer begins. */
type AnswerStart = Pick<IncomingMessage, 'statusCode' | 'headers'>;

/** What a request asks, and of whom. */
type AskedRequest = {
  readonly method: string;
  /** Without the query, which may hold a key. */
  readonly path: string;
  readonly api: ModelApi;
  readonly route: CallRoute;
};

/**
 * What is noted of an exchange: its bytes both ways, its times, and how it ended. Of what is no call, nothing is noted but that it passed.
 */
export class ExchangeNotes {
  readonly sent = openCapture();
  readonly isCall: boolean;
  /** True for a call in whose messages observers may change something, or that a rerun answers. */
  readonly isSteerable: boolean;
  readonly #id: string;
  readonly #answered = openCapture();
  readonly #incoming: Pick<IncomingMessage, 'headers'>;
  readonly #asked: AskedRequest;
  readonly #notes: CallNotes;
  #response: AnswerStart | undefined;
  #began = performance.now();
  /** Null while observers may hold it. */
  #sentAt: number | null;
  #isSentNoted = false;
  #firstByteMs: number | null = null;
  #isStartNoted = false;
  /** Its beginning is on its way into the journal. */
  #beginning: Promise<unknown> | undefined;
  #isOver = false;

  constructor(incoming: Pick<IncomingMessage, 'headers'>, asked: AskedRequest, notes: CallNotes) {
    const isOther = asked.api === 'other';
    this.isCall = !isOther || isRecordedRequest(asked.method, asked.path);
    this.isSteerable = this.isCall && (!isOther || notes.isClosed === true);
    this.#id = isOther ? providerCallId(randomUUID()) : `call-${randomUUID()}`;
    this.#incoming = incoming;
    this.#asked = asked;
    this.#notes = notes;
    if (!this.isCall) notes.passed?.(asked.method, asked.path);
    this.#sentAt = this.isSteerable && notes.steer !== undefined ? null : Date.now();
  }

  /** True if the client got all that it will get. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True if no request goes on that nobody has looked at. */
  get isClosed(): boolean {
    return this.#notes.isClosed === true;
  }

  get isStartNoted(): boolean {
    return this.#isStartNoted;
  }

  /** The request goes out now, not when it came. */
  markSent(): void {
    this.#sentAt = Date.now();
    this.#began = performance.now();
  }

  markAnswered(response: AnswerStart): void {
    this.#response = response;
  }

  /** @param isLast the end of the call is noted before its client is given this piece */
  addAnswered(piece: Buffer, isLast: boolean): void {
    const elapsed = this.#elapsed();
    this.#firstByteMs ??= elapsed;
    if (!this.isCall) return;
    this.#answered.add(piece);
    if (!isLast) this.#notes.given(this.#id, piece, this.#answerHead(), elapsed);
  }

  noteStart(): void {
    if (!this.isCall || this.#isStartNoted) return;
    this.#isStartNoted = true;
    const noted = this.#notes.started(this.#startedEntry(), this.sent.pieces());
    if (noted === undefined) return;
    this.#beginning = withinLimit(noted).finally(() => (this.#beginning = undefined));
  }

  /** Acts when the beginning of the call is noted: whose client has read something has a call that is known. */
  whenBegun(act: () => void): void {
    if (this.#beginning === undefined) act();
    else void this.#beginning.then(act);
  }

  /** Notes the start with who steers the call. @returns what observers make of it */
  steer(steer: NonNullable<CallNotes['steer']>, gone: AbortSignal): Promise<RequestToSend> {
    this.#isStartNoted = true;
    return steer(this.#startedEntry(), this.sent.pieces(), gone);
  }

  /** It ended before it went out: whoever steers it knows. */
  markEnded(): void {
    this.#isOver = true;
  }

  async noteEnd({ status, error }: ExchangeEnding): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.isCall) return;
    this.noteStart();
    await this.#notes.ended(
      {
        kind: 'ended',
        id: this.#id,
        method: this.#asked.method,
        path: this.#asked.path,
        status,
        ...this.#answerHead(),
        ...wholeOf(this.#answered),
        durationMs: this.#elapsed(),
        error,
      },
      this.#answered.pieces(),
    );
  }

  #answerHead(): UnendedHead {
    const { statusCode, headers } = this.#response ?? {};
    return {
      httpStatus: statusCode ?? null,
      contentType: headers?.['content-type'] ?? null,
      coding: headers?.['content-encoding'] ?? null,
      retryAfter: headers?.['retry-after'] ?? null,
      sentAt: this.#isSentNoted ? null : this.#sentAt,
      firstByteMs: this.#firstByteMs,
    };
  }

  /** Rounded down, as the time at which it began is: of two calls the first ends before the second begins. */
  #elapsed(): number {
    return Math.floor(performance.now() - this.#began);
  }

  #startedEntry(): StartedEntry {
    const { method, path, route } = this.#asked;
    const { headers } = this.#incoming;
    this.#isSentNoted = this.#sentAt !== null;
    const session = sessionInHeaders(headers);
    return {
      kind: 'started',
      id: this.#id,
      place: route.place,
      ...(route.run !== null && { run: route.run }),
      method,
      path,
      origin: route.upstream.origin,
      contentType: headers['content-type'] ?? null,
      sentAt: this.#sentAt,
      coding: headers['content-encoding'] ?? null,
      ...(session !== undefined && { session: hashOfSession(session) }),
      ...wholeOf(this.sent),
    };
  }
}

/** No call waits longer for a disk, in milliseconds. */
const MOST_WAITED = 50;

const withinLimit = (noted: Promise<unknown>): Promise<unknown> => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), MOST_WAITED);
  return Promise.race([noted.catch(() => undefined), promise]).finally(() => clearTimeout(timer));
};

const wholeOf = (body: Capture): Pick<StartedEntry, 'whole' | 'unkept'> => {
  const unkept = body.unkept();
  return unkept === undefined ? { whole: true } : { whole: false, unkept };
};
