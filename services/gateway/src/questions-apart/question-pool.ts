import { ENDPOINTS, type Endpoint } from '@stemma/api';
import { fail, fromWireError, isStemmaError, type ErrorCode } from '@stemma/errors';
import type { HomeOptions } from '@stemma/home';
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { HttpAnswers, Client, GivenInput, RouteName } from '../answers.ts';
import type { HttpAnswer } from '../front/answer.ts';
import { openFairQueue } from './fair-queue.ts';
import type { QuestionAnswer, QuestionRequest } from './messages.ts';

/**
 * Answers questions in processes of their own, a few at a time: who uses more time waits longer. Its answers throw
 * E_QUERY_TIMEOUT, E_BUSY when too many wait, E_CANCELLED when the client is gone, and what the question throws.
 */
export type QuestionPool = HttpAnswers & { readonly close: () => void };

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

/** Questions that are answered also where the rows cannot follow the log, and say so. */
const TELLS_OF_ROWS: ReadonlySet<string> = new Set(
  Object.entries<Endpoint>(ENDPOINTS).flatMap(([name, { tellsOfRows }]) =>
    tellsOfRows === true ? [name] : [],
  ),
);

type Question = {
  readonly name: RouteName;
  readonly input: GivenInput;
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: unknown) => void;
  readonly client: Client;
  program: string;
  /** Nobody waits for the answer any more. */
  givenUp: boolean;
  /** Set while it runs: ends its process. */
  kill?: () => void;
};

const shareOf = ({ program, client: { connection } }: Question) => ({ program, connection });

/** What a question's end is called that is neither an answer nor a refusal of the question itself. */
const OUTCOMES: Partial<Record<ErrorCode, string>> = {
  E_QUERY_TIMEOUT: 'timeout',
  E_BUSY: 'busy',
  E_CANCELLED: 'cancelled',
  E_INTERNAL: 'lost',
};

/** A process that answers questions, one at a time. */
export type QuestionProcess = {
  readonly ask: (question: Omit<Extract<QuestionRequest, { kind: 'ask' }>, 'kind'>) => Promise<HttpAnswer>;
  /** False once it has ended. */
  readonly alive: () => boolean;
  /** Ends it in the middle of whatever it does; the question it works on is refused. */
  readonly kill: () => void;
};

const PROGRAM = fileURLToPath(new URL('./question-process.ts', import.meta.url));
/** Megabytes of values: a question that needs more ends its process, not the server. */
const MAX_OLD_SPACE = 1_536;

/**
 * @param signal ends the process, also while it starts
 * @throws what opening the home throws
 */
export const openQuestionProcess = async (
  home: Pick<HomeOptions, 'directory' | 'log' | 'rows'>,
  signal: AbortSignal,
): Promise<QuestionProcess> => {
  const child = fork(PROGRAM, {
    execArgv: [`--max-old-space-size=${MAX_OLD_SPACE}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    signal,
    killSignal: 'SIGKILL',
  });
  let waiting: ((answer: QuestionAnswer) => void) | undefined;
  let alive = true;
  const settle = (answer: QuestionAnswer): void => {
    const waiter = waiting;
    waiting = undefined;
    waiter?.(answer);
  };
  const ended = (): void => {
    alive = false;
    const error = fail('E_INTERNAL', 'the process that computed the answer has ended');
    settle({ kind: 'failed', error });
  };
  child.on('message', (answer) => settle(answer as QuestionAnswer));
  child.on('error', ended);
  child.on('exit', ended);
  const request = async (message: QuestionRequest): Promise<Exclude<QuestionAnswer, { kind: 'failed' }>> => {
    const answer = await new Promise<QuestionAnswer>((resolve) => {
      waiting = resolve;
      if (alive) child.send(message, (error) => error !== null && ended());
      else ended();
    });
    if (answer.kind === 'failed') throw fromWireError(answer.error);
    return answer;
  };
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  await request({ kind: 'open', home }).catch((error: unknown) => {
    kill();
    throw error;
  });
  return {
    ask: async (question) => {
      const answer = await request({ kind: 'ask', ...question });
      if (answer.kind !== 'answered') throw fail('E_INTERNAL', 'the process answered no question');
      return answer.answer;
    },
    alive: () => alive,
    kill,
  };
};

/** Processes that answer questions, kept for the next ones. */
const openProcesses = (home: QuestionPoolOptions['home'], most: number) => {
  const free: QuestionProcess[] = [];
  const all = new Set<QuestionProcess>();
  const closing = new AbortController();
  let preparing = false;

  const open = async (): Promise<QuestionProcess> => {
    const opened = await openQuestionProcess(home, closing.signal);
    all.add(opened);
    return opened;
  };
  /** One more is there before the next question: to start takes longer than most of them. */
  const prepare = (): void => {
    if (closing.signal.aborted || preparing || free.length > 0 || all.size > most) return;
    preparing = true;
    void open()
      .then((process) => free.push(process))
      .catch(() => undefined)
      .finally(() => (preparing = false));
  };
  return {
    prepare,
    take: async (): Promise<QuestionProcess> => {
      for (let ready = free.pop(); ready !== undefined; ready = free.pop()) {
        if (ready.alive()) return ready;
        all.delete(ready);
      }
      return open();
    },
    giveBack: (process: QuestionProcess): void => {
      if (process.alive()) free.push(process);
      else {
        all.delete(process);
        prepare();
      }
    },
    closing: closing.signal,
    close: () => closing.abort(),
  };
};

export const openQuestionPool = ({
  home,
  catchUp,
  repairs = [],
  timeout,
  processes: most = Math.max(2, Math.min(4, availableParallelism())),
  ended = () => undefined,
}: QuestionPoolOptions): QuestionPool => {
  const queue = openFairQueue<Question>(MAX_WAITING);
  const processes = openProcesses(home, most);
  const running = new Set<Question>();
  let unknown = 0;

  const runningOf = (asked: string): number => [...running].filter(({ program }) => program === asked).length;
  /** Who is alone needs no name; where questions wait for others, all are asked for theirs. */
  const identify = async (question: Question): Promise<void> => {
    if (running.size + queue.size() < most) return;
    processes.prepare();
    await Promise.all(
      [question, ...running].map(async (each) => {
        each.program = await each.client.program();
      }),
    );
  };
  const run = async (question: Question): Promise<void> => {
    let process: QuestionProcess | undefined;
    const started = performance.now();
    try {
      const { name, input } = question;
      await catchUp().catch((error: unknown) => {
        if (!TELLS_OF_ROWS.has(name)) throw error;
      });
      const opened = (process = await processes.take());
      if (question.givenUp) return;
      question.kill = () => opened.kill();
      question.resolve(await opened.ask({ name, input, repairs }));
    } catch (error) {
      question.reject(error);
    } finally {
      delete question.kill;
      queue.spend(shareOf(question), performance.now() - started);
      if (process !== undefined) processes.giveBack(process);
    }
  };
  const work = (): void => {
    while (running.size <= most && !processes.closing.aborted) {
      const next = queue.next((program) => runningOf(program) < most);
      if (next === undefined) return;
      running.add(next.item);
      void run(next.item).finally(() => {
        running.delete(next.item);
        work();
      });
    }
  };
  const enqueue = (question: Question): void => {
    if (question.givenUp) return;
    const dropped = queue.add(shareOf(question), question);
    dropped?.reject(fail('E_BUSY', `${queue.size()} questions are waiting already`));
    work();
  };
  /** A question that runs is ended with its process, if it has not answered by then. */
  const giveUp = (question: Question, error: Error, after: number): void => {
    question.givenUp = true;
    queue.remove(question);
    setTimeout(() => question.kill?.(), after).unref();
    question.reject(error);
  };
  processes.prepare();

  return {
    ask: async (name, input, client) => {
      const arrived = performance.now();
      const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
      const program = `unknown ${++unknown}`;
      const question: Question = { name, input, resolve, reject, client, program, givenUp: false };
      const late = setTimeout(() => {
        const error = fail('E_QUERY_TIMEOUT', `the question took more than ${timeout / 1000} s`, { timeout });
        giveUp(question, error, 0);
      }, timeout);
      let isOver = false;
      client.onGone(() => {
        if (isOver) return;
        const after = Math.max(0, ABANDONED - (performance.now() - arrived));
        giveUp(question, fail('E_CANCELLED', 'the client is gone'), after);
      });
      void identify(question).then(() => enqueue(question), reject);
      try {
        const answer = await promise;
        ended('answered');
        return answer;
      } catch (error) {
        ended(isStemmaError(error) ? (OUTCOMES[error.code] ?? 'failed') : 'failed');
        throw error;
      } finally {
        isOver = true;
        clearTimeout(late);
      }
    },
    close: processes.close,
  };
};
