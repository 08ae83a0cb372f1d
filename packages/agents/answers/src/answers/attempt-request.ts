import type { ContractAnswer } from '../answer.ts';
import { bodyOf } from '../attempt-body.ts';

export const attemptRequest: ContractAnswer<'attemptRequest'> = ({ home }, input) =>
  bodyOf(home, input, 'request');
