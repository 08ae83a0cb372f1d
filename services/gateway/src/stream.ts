import { positionAnswer, toWireJson } from '@stemma/api';
import { errorToHttpJson, fail, StemmaError } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { anySignal } from '@stemma/machine';
import type { LoggedEvent, WatchMessage } from '@stemma/queries';
import { defined } from '@stemma/values';
import { setTimeout as wait } from 'node:timers/promises';
import { streamedAnswer, UNFORESEEN } from '@stemma/answers';
import type { Pieces } from './front/answer.ts';

/** Bounds of live streams, in milliseconds. */
export type StreamTimes = {
  /** A comment is sent when nothing has been for so long, so that a dead connection is noticed. */
  readonly heartbeat: number;
  /** A client that takes nothing for so long is cut off. */
  readonly stall: number;
  /** So long an answer waits for the log to refuse the cursor, before the stream begins. */
  readonly refusal: number;
  /** A stream keeps its slot for so long when others want one and all are taken. */
  readonly turn: number;
};

const EVENTS_PER_MESSAGE = 100;

/** What a client is sent: batches of something, each as one or more messages. */
export type StreamSource<T> = {
  readonly batches: (signal: AbortSignal) => AsyncIterable<T>;
  readonly messages: (batch: T) => readonly string[] | Promise<readonly string[]>;
};

/** What is said of a batch of events: whole messages, the last with the cursor as its id. */
type FormatBatch = (
  cursor: string,
  events: readonly LoggedEvent[],
) => readonly string[] | Promise<readonly string[]>;

/** New events of a home, or of one of its histories, after a cursor or from now. */
export const eventSource = (
  home: Home,
  { after, history }: { readonly after?: string | undefined; readonly history?: string | undefined },
  formatBatch: FormatBatch = messages,
): StreamSource<{ readonly cursor: string; readonly events: readonly LoggedEvent[] }> => ({
  batches: (signal) =>
    home.follow({
      signal,
      ...defined({ after, history }),
    }),
  messages: ({ cursor, events }) => formatBatch(cursor, events),
});

/** The results of a watched selector, and their changes. */
export const watchSource = (
  home: Home,
  {
    history,
    selector,
    after,
  }: { readonly history: string; readonly selector: string; readonly after?: string | undefined },
): StreamSource<WatchMessage> => ({
  batches: (signal) => home.queries.questions.watch(history, selector, { signal, ...defined({ after }) }),
  messages: ({ cursor, position, ...result }) => [
    `id: ${cursor}\nevent: result\ndata: ${toWireJson({ ...result, position: positionAnswer(position) })}\n\n`,
  ],
});

/** Told of a stream. */
export type StreamListener = {
  /** The client took nothing for too long. */
  readonly stalled: () => void;
  /** It has ended, for whatever reason. */
  readonly ended: () => void;
};

/**
 * The live stream of one client, as the bytes of server-sent events; it ends with the signal (the client is gone, or
 * the server closes). Nothing is read ahead of what the client takes, so that a slow client costs one message of
 * memory, and one that takes nothing is cut off.
 *
 * Messages may come twice after a resumption (a batch of events has one cursor, at its end), never not at all.
 *
 * @param told the error as a client is told it
 * @throws E_STREAM_GONE when the log does not have the cursor.
 */
export const openStream = async <T>(
  source: StreamSource<T>,
  clientSignal: AbortSignal,
  times: StreamTimes,
  told: (error: StemmaError) => StemmaError,
  listener: StreamListener,
): Promise<Pieces> => {
  const end = new AbortController();
  const signal = anySignal([clientSignal, end.signal]);
  const batches = source.batches(signal)[Symbol.asyncIterator]();
  const next = batches.next();
  next.catch(() => undefined);
  await Promise.race([next, wait(times.refusal, undefined, { signal: end.signal })]).catch(
    (error: unknown) => {
      end.abort();
      throw asStreamError(error);
    },
  );
  return new LiveStream(source, batches, next, { signal, end, times, told, listener }).pieces;
};

type StreamContext = {
  readonly signal: AbortSignal;
  /** Ends the source. */
  readonly end: AbortController;
  readonly times: StreamTimes;
  readonly told: (error: StemmaError) => StemmaError;
  readonly listener: StreamListener;
};

class LiveStream<T> {
  readonly #source: StreamSource<T>;
  readonly #batches: AsyncIterator<T>;
  readonly #context: StreamContext;
  readonly #encoder = new TextEncoder();
  readonly #queued: string[] = ['retry: 1000\n\n'];
  #next: Promise<IteratorResult<T>>;
  #stalled: NodeJS.Timeout | undefined;
  #over = false;

  constructor(
    source: StreamSource<T>,
    batches: AsyncIterator<T>,
    next: Promise<IteratorResult<T>>,
    context: StreamContext,
  ) {
    this.#source = source;
    this.#batches = batches;
    this.#next = next;
    this.#context = context;
    this.#awaitClient();
  }

  readonly pieces: Pieces = {
    next: async () => {
      clearTimeout(this.#stalled);
      const text = await this.#nextPiece();
      if (!this.#over) this.#awaitClient();
      return text === undefined ? undefined : this.#encoder.encode(text);
    },
    cancel: () => this.#finish(),
  };

  /** The next text that is not empty; undefined after the last. */
  async #nextPiece(): Promise<string | undefined> {
    try {
      for (;;) {
        const ready = this.#queued.shift();
        if (ready !== undefined) return ready;
        if (this.#over) return undefined;
        const text = await this.#nextText();
        if (text === null) this.#finish();
        else if (text !== '') return text;
      }
    } catch (error) {
      const { signal, told } = this.#context;
      const reason = signal.aborted ? endReason(signal) : told(asStreamError(error));
      this.#finish();
      return endMessage(reason);
    }
  }

  async #nextText(): Promise<string | null> {
    const { signal, times } = this.#context;
    const heartbeat = new AbortController();
    const batch = await Promise.race([
      this.#next,
      wait(times.heartbeat, 'beat' as const, { signal: heartbeat.signal }),
    ]);
    heartbeat.abort();
    if (batch === 'beat') return ': nothing new\n\n';
    if (batch.done === true) {
      if (signal.aborted) throw endReason(signal);
      return null;
    }
    this.#next = this.#batches.next();
    this.#next.catch(() => undefined);
    this.#queued.push(...(await this.#source.messages(batch.value)));
    return '';
  }

  /** Ends the stream if its client takes no piece for too long; if it ever takes another one, that says why. */
  #awaitClient(): void {
    const { times, listener } = this.#context;
    this.#stalled = setTimeout(() => {
      listener.stalled();
      this.#queued.push(endMessage(fail('E_STREAM_SLOW', 'the client took nothing for too long')));
      this.#finish();
    }, times.stall);
    this.#stalled.unref();
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#stalled);
    this.#context.end.abort();
    this.#context.listener.ended();
  }
}

/** The events of a batch as messages; the last carries the cursor. A batch without events only moves the cursor. */
const messages: FormatBatch = (cursor, events) => {
  if (events.length === 0) return [`id: ${cursor}\n\n`];
  const list: string[] = [];
  for (let i = 0; i < events.length; i += EVENTS_PER_MESSAGE) {
    const data = toWireJson({ events: events.slice(i, i + EVENTS_PER_MESSAGE).map(streamedAnswer) });
    const id = i + EVENTS_PER_MESSAGE >= events.length ? `id: ${cursor}\n` : '';
    list.push(`${id}event: events\ndata: ${data}\n\n`);
  }
  return list;
};

/** Why a stream ends that its client did not end: its slot went to another client, or the server stops. */
const endReason = ({ reason }: AbortSignal): StemmaError =>
  reason instanceof StemmaError ? reason : fail('E_BUSY', 'the server is stopping');

const endMessage = (error: StemmaError): string =>
  `event: end\ndata: ${toWireJson(errorToHttpJson(error))}\n\n`;

/** A cursor that the log does not have is gone for the client, whatever the log calls it. */
const asStreamError = (error: unknown): StemmaError => {
  if (!(error instanceof StemmaError)) return new StemmaError('E_INTERNAL', UNFORESEEN, {}, { cause: error });
  if (error.code !== 'E_CURSOR_LOST' && error.code !== 'E_LOG_MISMATCH') return error;
  return new StemmaError('E_STREAM_GONE', 'the log does not have this cursor', {}, { cause: error });
};
