import type { EndpointName } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { HomeOptions } from '@stemma/home';
import { availableParallelism } from 'node:os';
import { openFairQueue } from './fair-queue.ts';
import { openQuestionProcess, type QuestionProcess } from './open-process.ts';

/** Answers questions in processes of their own, a few at a time. */
export type QuestionPool = {
  /**
   * The bytes of an answer.
   *
   * @param client who asks: those who use more time wait longer.
   * @throws E_QUERY_TIMEOUT, E_BUSY when too many wait, E_CANCELLED with the signal, and what the question throws
   */
  readonly ask: (
    name: EndpointName,
    input: Readonly<Record<string, unknown>>,
    client: unknown,
    signal: AbortSignal,
  ) => Promise<Uint8Array<ArrayBuffer>>;
  readonly close: () => void;
};

export type QuestionPoolOptions = {
  readonly home: Pick<HomeOptions, 'directory' | 'log' | 'rows'>;
  /** Resolves when the rows have everything that was accepted: called before each question. */
  readonly catchUp: () => Promise<void>;
  /** Milliseconds from a question's arrival until it is refused. */
  readonly timeout: number;
  readonly processes?: number;
};

/** Milliseconds after which a process is ended whose client is gone: shorter questions are worth more than it. */
const ABANDONED = 2_000;
const MAX_WAITING = 64;

type Question = {
  readonly name: EndpointName;
  readonly input: Readonly<Record<string, unknown>>;
  readonly resolve: (bytes: Uint8Array<ArrayBuffer>) => void;
  readonly reject: (error: unknown) => void;
  /** Nobody waits for the answer any more. */
  givenUp: boolean;
  /** Set while it runs: ends its process. */
  kill?: () => void;
};

export const openQuestionPool = ({
  home,
  catchUp,
  timeout,
  processes = Math.max(2, Math.min(4, availableParallelism())),
}: QuestionPoolOptions): QuestionPool => {
  const queue = openFairQueue<Question>(MAX_WAITING);
  const free: QuestionProcess[] = [];
  const all = new Set<QuestionProcess>();
  let busy = 0;
  let closed = false;

  const processFor = async (): Promise<QuestionProcess> => {
    for (let ready = free.pop(); ready !== undefined; ready = free.pop()) if (ready.alive()) return ready;
    const opened = await openQuestionProcess(home);
    if (closed) opened.kill();
    all.add(opened);
    return opened;
  };
  const run = async (question: Question, client: unknown): Promise<void> => {
    let process: QuestionProcess | undefined;
    const started = performance.now();
    try {
      await catchUp();
      const opened = (process = await processFor());
      if (question.givenUp) return;
      question.kill = () => opened.kill();
      const { name, input } = question;
      question.resolve(await opened.ask({ kind: 'ask', name, input }));
    } catch (error) {
      question.reject(error);
    } finally {
      delete question.kill;
      queue.spend(client, performance.now() - started);
      if (process?.alive() === true) free.push(process);
      else if (process !== undefined) {
        all.delete(process);
        prepare();
      }
    }
  };
  const work = (): void => {
    while (busy < processes && !closed) {
      const next = queue.next();
      if (next === undefined) return;
      busy++;
      void run(next.item, next.client).finally(() => {
        busy--;
        work();
      });
    }
  };

  /** One more is there before the next question: to start takes longer than most of them. */
  const prepare = (): void => {
    if (closed || all.size >= processes) return;
    void processFor()
      .then((process) => free.push(process))
      .catch(() => undefined);
  };
  prepare();

  return {
    ask: async (name, input, client, signal) => {
      const arrived = performance.now();
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
      const question: Question = { name, input, resolve, reject, givenUp: false };
      /** A question that runs is ended with its process, if it has not answered by then. */
      const giveUp = (error: Error, after: number): void => {
        question.givenUp = true;
        queue.remove(question);
        setTimeout(() => question.kill?.(), after).unref();
        reject(error);
      };
      const onAbort = (): void =>
        giveUp(
          fail('E_CANCELLED', 'the client is gone'),
          Math.max(0, ABANDONED - (performance.now() - arrived)),
        );
      const late = setTimeout(() => {
        giveUp(fail('E_QUERY_TIMEOUT', `the question took more than ${timeout / 1000} s`, { timeout }), 0);
      }, timeout);
      signal.addEventListener('abort', onAbort, { once: true });
      const dropped = queue.add(client, question);
      dropped?.reject(fail('E_BUSY', `${queue.size()} questions are waiting already`));
      if (signal.aborted) onAbort();
      work();
      try {
        return await promise;
      } finally {
        clearTimeout(late);
        signal.removeEventListener('abort', onAbort);
      }
    },
    close: () => {
      closed = true;
      for (const each of all) each.kill();
    },
  };
};
