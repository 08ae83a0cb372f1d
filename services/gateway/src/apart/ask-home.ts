import { fail } from '@stemma/errors';
import { isMarkedAsUntransferable } from 'node:worker_threads';
import type { HttpAnswers } from '../answers.ts';
import type { HttpAnswer, Pieces, StreamedAnswer } from '../front/answer.ts';
import type { CountAtDoor } from '../front/door-counts.ts';
import { errorAnswer } from '../front/error-answer.ts';
import { labelOf } from '../router.ts';
import type { Outbox } from './outbox.ts';
import type { FromHome, ToHome } from './thread-messages.ts';

/** Asks a home in another thread, as the thread of the server does. */
export type HomeAsker = HttpAnswers & {
  readonly hear: (message: Extract<FromHome, { kind: 'response' | 'piece' | 'end' }>) => void;
  /** Refuses what waits, and ends streams. */
  readonly end: (error: Error) => void;
};

type Waiting = {
  readonly resolve: (answer: HttpAnswer | StreamedAnswer) => void;
  readonly reject: (error: unknown) => void;
};

const ALIVE: HttpAnswer = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"status":"ok"}',
};

/** A piece that is smaller is copied faster than moved. */
const LARGE = 16 * 1024;

/** The memory of large pieces that can be moved to another thread; the rest is copied. */
const movable = (pieces: readonly Uint8Array[]): readonly ArrayBuffer[] =>
  pieces.flatMap(({ buffer, length }) =>
    length >= LARGE && buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer) ? [buffer] : [],
  );

/** What the thread of the server knows of that of the home. */
type ThreadState = {
  /** Whether it answers at all, which it cannot say itself: it may be slow, but not for minutes. */
  readonly isAlive: () => boolean;
  readonly noteWork: () => void;
  readonly count: CountAtDoor;
};

export const openHomeAsker = (
  tell: Outbox<ToHome>['put'],
  { isAlive, noteWork, count }: ThreadState,
): HomeAsker => {
  const waiting = new Map<number, Waiting>();
  /** Those that wait for the next piece of a stream. */
  const streams = new Map<number, (piece: Uint8Array | undefined) => void>();
  const clients = new WeakMap<object, number>();
  let asked = 0;
  let ended: Error | undefined;
  let connections = 0;

  const connectionNumber = (connection: object): number => {
    const number = clients.get(connection) ?? ++connections;
    clients.set(connection, number);
    return number;
  };
  const endStream = (id: number): void => {
    const waiter = streams.get(id);
    streams.delete(id);
    waiter?.(undefined);
  };
  const piecesOf = (id: number): Pieces => {
    streams.set(id, () => undefined);
    return {
      next: () =>
        new Promise((resolve) => {
          if (!streams.has(id)) {
            resolve(undefined);
            return;
          }
          streams.set(id, resolve);
          tell({ kind: 'pull', id });
        }),
      cancel: () => {
        if (!streams.has(id)) return;
        endStream(id);
        tell({ kind: 'cancel', id });
      },
    };
  };
  const respond = ({ id, status, headers, body }: Extract<FromHome, { kind: 'response' }>): void => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    waiter?.resolve(
      body === undefined ? { status, headers, pieces: piecesOf(id) } : { status, headers, body },
    );
  };
  const health = (method: string): HttpAnswer => {
    const answer = isAlive()
      ? ALIVE
      : errorAnswer(fail('E_INTERNAL', 'the thread of the home does not answer'));
    count('stemma_http_requests_total', { method, route: labelOf('healthLive'), status: answer.status });
    return answer;
  };
  return {
    ask: (name, input, { connection, ports = { remote: 0, local: 0 }, onGone }) =>
      new Promise((resolve, reject) => {
        if (name === 'healthLive') {
          resolve(health(input.method));
          return;
        }
        if (ended !== undefined) throw ended;
        noteWork();
        const id = ++asked;
        waiting.set(id, { resolve, reject });
        onGone(() => {
          if (!waiting.delete(id)) return;
          reject(fail('E_CANCELLED', 'the client is gone'));
          tell({ kind: 'cancel', id });
        });
        const message = {
          kind: 'ask',
          id,
          name,
          input,
          connection: connectionNumber(connection as object),
          ports,
        } as const;
        tell(message, movable(input.body ?? []));
      }),
    hear: (message) => {
      if (message.kind === 'response') respond(message);
      else if (message.kind === 'piece') streams.get(message.id)?.(message.bytes);
      else endStream(message.id);
    },
    end: (error) => {
      ended = error;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
      for (const id of [...streams.keys()]) endStream(id);
    },
  };
};
