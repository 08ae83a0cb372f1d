import { wholeAttemptAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';

export const attempt: ContractAnswer<'attempt'> = async ({ home }, { history, attempt }) =>
  wholeAttemptAnswer(await home.calls.find((await home.find(history)).history, attempt));
