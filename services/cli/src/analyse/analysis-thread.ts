/** The thread that computes one answer, so that Ctrl-C ends it at once. Its question is its `workerData`. */
import { fail, isStemmaError } from '@stemma/errors';
import { parentPort, workerData } from 'node:worker_threads';
import { answerTo } from './answer.ts';
import type { AnalysisQuestion, FromAnalysis } from './questions.ts';

const answer = (): FromAnalysis => {
  try {
    return { answer: answerTo(workerData as AnalysisQuestion) };
  } catch (error) {
    // What JavaScript throws where an array would be larger than memory.
    const tooLarge =
      error instanceof RangeError
        ? fail('E_INPUT_TOO_LARGE', `there is not enough memory: ${error.message}`)
        : error;
    if (!isStemmaError(tooLarge)) throw error;
    const { code, message, detail } = tooLarge;
    return { error: { code, message, detail } };
  }
};

parentPort?.postMessage(answer());
