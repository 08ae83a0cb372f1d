import { fail, type StemmaError } from '@stemma/errors';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { MindEndpoint } from './endpoint.ts';
import type { MindLimits } from './limits.ts';

/** What came back, as far as it came. */
export type Exchanged = {
  readonly head: {
    readonly status: number;
    readonly contentType: string | null;
    readonly coding: string | null;
    readonly retryAfter: string | null;
    readonly retryAfterMs: string | null;
  } | null;
  readonly body: Uint8Array | null;
  /** Milliseconds since 1970: when the request began to go out. */
  readonly sentAt: number;
  readonly firstByteMs: number | null;
  readonly durationMs: number;
  /** Why there is no whole answer. */
  readonly error: StemmaError | null;
  /** True if the server cannot have answered: another try costs nothing. */
  readonly isSafe: boolean;
};

/** What has come of an answer. */
type ExchangeState = {
  head: Exchanged['head'];
  firstByteMs: number | null;
  isConnected: boolean;
  isOver: boolean;
  /** Bytes of the body. */
  size: number;
};

/**
 * Sends a body with POST and reads the answer to its end, within limits. It follows no redirect and throws nothing. Errors
 * name the server and no header.
 */
export const exchangeWith = (
  { url, headers }: MindEndpoint,
  request: Uint8Array,
  limits: MindLimits,
  { signal, now }: { readonly signal: AbortSignal; readonly now: () => number },
): Promise<Exchanged> =>
  new Promise((resolve) => {
    const began = now();
    const sentAt = Date.now();
    // Rounded down, as the time at which it began is.
    const elapsed = (): number => Math.floor(now() - began);
    const state: ExchangeState = {
      head: null,
      firstByteMs: null,
      isConnected: false,
      isOver: false,
      size: 0,
    };
    const pieces: Buffer[] = [];
    const timers = new Set<NodeJS.Timeout>();
    const { origin } = url;

    const end = (error: StemmaError | null, isWhole = false): void => {
      if (state.isOver) return;
      state.isOver = true;
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      if (!isWhole) sent.destroy();
      const hasBody = state.head !== null && error?.code !== 'E_MIND_ANSWER_TOO_LARGE';
      const body = hasBody ? new Uint8Array(Buffer.concat(pieces, state.size)) : null;
      resolve({
        head: state.head,
        body,
        sentAt,
        firstByteMs: state.firstByteMs,
        durationMs: elapsed(),
        error,
        isSafe: !state.isConnected,
      });
    };
    const endAfter = (milliseconds: number, what: string): NodeJS.Timeout => {
      const timer = setTimeout(
        () => end(fail('E_MIND_TIMEOUT', `${origin} ${what} within ${milliseconds / 1_000} s`)),
        milliseconds,
      );
      timers.add(timer);
      return timer;
    };
    const cancel = (): void => end(fail('E_CANCELLED', 'the call was cancelled'));

    const sent = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      agent: false,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': request.length,
        accept: 'application/json, text/event-stream',
        'accept-encoding': 'identity',
        'user-agent': 'stemma',
      },
    });
    const connecting = endAfter(limits.connect, 'took no connection');
    const first = endAfter(limits.firstByte, 'sent no byte of an answer');
    endAfter(limits.whole, 'did not end its answer');
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();

    sent.on('socket', (socket) => {
      const connected = (): void => {
        state.isConnected = true;
        clearTimeout(connecting);
      };
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
    });
    sent.on('error', (error: NodeJS.ErrnoException) =>
      end(fail('E_MIND_UNREACHABLE', `${origin} cannot be reached (${error.code ?? 'no reason is known'})`)),
    );
    sent.on('response', (received: IncomingMessage) => {
      state.head = headOf(received);
      const declared = Number(received.headers['content-length'] ?? 0);
      if (declared > limits.answer) end(tooLarge(origin, limits));
      received.on('data', (piece: Buffer) => {
        state.firstByteMs ??= elapsed();
        clearTimeout(first);
        state.size += piece.length;
        if (state.size > limits.answer) end(tooLarge(origin, limits));
        else if (!state.isOver) pieces.push(piece);
      });
      received.on('end', () => end(received.complete ? null : cutOff(origin), received.complete));
      received.on('error', () => end(cutOff(origin)));
      received.on('close', () => end(received.complete ? null : cutOff(origin)));
    });
    sent.end(request);
  });

const tooLarge = (origin: string, { answer }: MindLimits): StemmaError =>
  fail('E_MIND_ANSWER_TOO_LARGE', `the answer of ${origin} has more than ${answer} bytes`);

const cutOff = (origin: string): StemmaError =>
  fail('E_MIND_UNREACHABLE', `${origin} ended the connection in the middle of its answer`);

const headOf = ({ statusCode = 502, headers }: IncomingMessage): Exchanged['head'] => {
  const text = (name: string): string | null => {
    const value = headers[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    status: statusCode,
    contentType: text('content-type'),
    coding: text('content-encoding'),
    retryAfter: text('retry-after'),
    retryAfterMs: text('retry-after-ms'),
  };
};
