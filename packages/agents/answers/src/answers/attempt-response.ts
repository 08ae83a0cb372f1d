import type { ContractAnswer } from '../answer.ts';
import { bodyOf } from '../attempt-body.ts';

export const attemptResponse: ContractAnswer<'attemptResponse'> = ({ home }, input) =>
  bodyOf(home, input, 'response');
