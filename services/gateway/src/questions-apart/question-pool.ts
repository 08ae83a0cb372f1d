import { ENDPOINTS, type Endpoint, type EndpointName } from '@stemma/api';
import { fail, isStemmaError, type ErrorCode } from '@stemma/errors';
import type { HomeOptions } from '@stemma/home';
import { availableParallelism } from 'node:os';
import { openFairQueue } from './fair-queue.ts';
import { openQuestionProcess, type QuestionProcess } from './open-process.ts';

/** Who asks. */
export type Asker = {
  readonly connection: unknown;
  /** The program that the connection belongs to; one of its own where that cannot be known. Called where questions wait. */
  readonly program: () => Promise<string>;
};

/** Answers questions in processes of their own, a few at a time. */
export type QuestionPool = {
  /**
   * The bytes of an answer.
   *
   * @param asker who asks: those who use more time wait longer.
   * @throws E_QUERY_TIMEOUT, E_BUSY when too many wait, E_CANCELLED with the signal, and what the question throws
   */
  readonly ask: (
    name: EndpointName,
    input: Readonly<Record<string, unknown>>,
    asker: Asker,
    signal: AbortSignal,
  ) => Promise<Uint8Array<ArrayBuffer>>;
  readonly close: () => void;
};

export type QuestionPoolOptions = {
  readonly home: Pick<HomeOptions, 'directory' | 'log' | 'rows'>;
  /** Resolves when the rows have everything that was accepted: called before each question that needs it. */
  readonly catchUp: () => Promise<void>;
  /** What the home has repaired so far, in sentences: `doctor` tells of it. */
  readonly repairs?: readonly string[];
  /** Milliseconds from a question's arrival until it is refused. */
  readonly timeout: number;
  /** As many as one program may use at a time. One more is there for another program: it never waits for the first. */
  readonly processes?: number;
  /** Told how each question ended. */
  readonly ended?: (outcome: string) => void;
};

/** Milliseconds after which a process is ended whose client is gone: shorter questions are worth more than it. */
const ABANDONED = 2_000;
const MAX_WAITING = 64;

type Question = {
  readonly name: EndpointName;
  readonly input: Readonly<Record<string, unknown>>;
  readonly resolve: (bytes: Uint8Array<ArrayBuffer>) => void;
  readonly reject: (error: unknown) => void;
  readonly asker: Asker;
  program: string;
  /** Nobody waits for the answer any more. */
  givenUp: boolean;
  /** Set while it runs: ends its process. */
  kill?: () => void;
};

const shareOf = ({ program, asker: { connection } }: Question) => ({ program, connection });

/** What a question's end is called that is neither an answer nor a refusal of the question itself. */
const OUTCOMES: Partial<Record<ErrorCode, string>> = {
  E_QUERY_TIMEOUT: 'timeout',
  E_BUSY: 'busy',
  E_CANCELLED: 'cancelled',
  E_INTERNAL: 'lost',
};

export const openQuestionPool = ({
  home,
  catchUp,
  repairs = [],
  timeout,
  processes = Math.max(2, Math.min(4, availableParallelism())),
  ended = () => undefined,
}: QuestionPoolOptions): QuestionPool => {
  const queue = openFairQueue<Question>(MAX_WAITING);
  const free: QuestionProcess[] = [];
  const all = new Set<QuestionProcess>();
  const running = new Set<Question>();
  let unknown = 0;
  let preparing = false;
  const closing = new AbortController();

  const runningOf = (asked: string): number => [...running].filter(({ program }) => program === asked).length;
  /** Who is alone needs no name; where questions wait for others, all are asked for theirs. */
  const identify = async (question: Question): Promise<void> => {
    if (running.size + queue.size() < processes) return;
    prepare();
    await Promise.all(
      [question, ...running].map(async (each) => {
        each.program = await each.asker.program();
      }),
    );
  };

  const processFor = async (): Promise<QuestionProcess> => {
    for (let ready = free.pop(); ready !== undefined; ready = free.pop()) {
      if (ready.alive()) return ready;
      all.delete(ready);
    }
    return openProcess();
  };
  const openProcess = async (): Promise<QuestionProcess> => {
    const opened = await openQuestionProcess(home, closing.signal);
    all.add(opened);
    return opened;
  };
  const run = async (question: Question): Promise<void> => {
    let process: QuestionProcess | undefined;
    const started = performance.now();
    try {
      const { name, input } = question;
      await catchUp().catch((error: unknown) => {
        const { tellsOfRows }: Endpoint = ENDPOINTS[name];
        if (tellsOfRows !== true) throw error;
      });
      const opened = (process = await processFor());
      if (question.givenUp) return;
      question.kill = () => opened.kill();
      question.resolve(await opened.ask({ kind: 'ask', name, input, repairs }));
    } catch (error) {
      question.reject(error);
    } finally {
      delete question.kill;
      queue.spend(shareOf(question), performance.now() - started);
      if (process?.alive() === true) free.push(process);
      else if (process !== undefined) {
        all.delete(process);
        prepare();
      }
    }
  };
  const work = (): void => {
    while (running.size <= processes && !closing.signal.aborted) {
      const next = queue.next((program) => runningOf(program) < processes);
      if (next === undefined) return;
      running.add(next.item);
      void run(next.item).finally(() => {
        running.delete(next.item);
        work();
      });
    }
  };

  /** One more is there before the next question: to start takes longer than most of them. */
  const prepare = (): void => {
    if (closing.signal.aborted || preparing || free.length > 0 || all.size > processes) return;
    preparing = true;
    void openProcess()
      .then((process) => free.push(process))
      .catch(() => undefined)
      .finally(() => (preparing = false));
  };
  prepare();

  return {
    ask: async (name, input, asker, signal) => {
      const arrived = performance.now();
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
      const program = `unknown ${++unknown}`;
      const question: Question = { name, input, resolve, reject, asker, program, givenUp: false };
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
      if (signal.aborted) onAbort();
      const enqueue = (): void => {
        if (question.givenUp) return;
        const dropped = queue.add(shareOf(question), question);
        dropped?.reject(fail('E_BUSY', `${queue.size()} questions are waiting already`));
        work();
      };
      void identify(question).then(enqueue, reject);
      try {
        const bytes = await promise;
        ended('answered');
        return bytes;
      } catch (error) {
        ended(isStemmaError(error) ? (OUTCOMES[error.code] ?? 'failed') : 'failed');
        throw error;
      } finally {
        clearTimeout(late);
        signal.removeEventListener('abort', onAbort);
      }
    },
    close: () => closing.abort(),
  };
};
