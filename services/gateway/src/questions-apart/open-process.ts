import { fail, fromWireError } from '@stemma/errors';
import type { HomeOptions } from '@stemma/home';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { HttpAnswer } from '../front/answer.ts';
import type { QuestionAnswer, QuestionRequest } from './messages.ts';

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
