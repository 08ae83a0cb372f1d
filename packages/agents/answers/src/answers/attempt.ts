import { wholeAttemptAnswer, wholeProviderCallAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';

export const attempt: ContractAnswer<'attempt'> = async ({ home }, { history: name, attempt }) => {
  const { history } = await home.find(name);
  const call = await home.calls.findProviderCall(history, attempt);
  return call === undefined
    ? wholeAttemptAnswer(await home.calls.find(history, attempt))
    : wholeProviderCallAnswer(call);
};
