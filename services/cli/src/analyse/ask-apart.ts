import { fail, StemmaError } from '@stemma/errors';
import { Worker } from 'node:worker_threads';
import type { AnalysisQuestion, AnswerTo, FileBytes, FromAnalysis } from './questions.ts';

/**
 * The answer to a question, computed in a thread of its own; the bytes of its files move there.
 *
 * @throws what the answer throws; E_INPUT_TOO_LARGE if memory does not suffice; E_CANCELLED once the signal aborts
 */
export const askApart = <Question extends AnalysisQuestion>(
  question: Question,
  signal: AbortSignal,
): Promise<AnswerTo<Question>> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new Worker(new URL('./analysis-thread.ts', import.meta.url), {
      workerData: question,
      transferList: filesOf(question).map(({ bytes }) => bytes.buffer),
    });
    const stop = (): void => {
      reject(signal.reason as Error);
      void worker.terminate();
    };
    signal.addEventListener('abort', stop, { once: true });
    worker.on('message', (message: FromAnalysis) => {
      if ('answer' in message) resolve(message.answer as AnswerTo<Question>);
      else reject(new StemmaError(message.error.code, message.error.message, message.error.detail));
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? fail('E_INPUT_TOO_LARGE', 'there is not enough memory for so many vectors')
          : error,
      );
    });
    worker.on('exit', () => {
      signal.removeEventListener('abort', stop);
      reject(fail('E_INTERNAL', 'the thread of the analysis ended without an answer'));
    });
  });

const filesOf = (question: AnalysisQuestion): readonly FileBytes[] =>
  question.kind === 'verdict' || question.kind === 'layout'
    ? []
    : question.kind === 'compare'
      ? [question.a, question.b, ...question.runs]
      : [question.file];
