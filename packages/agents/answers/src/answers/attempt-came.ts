import type { ContractAnswer } from '../answer.ts';
import { bodyOf } from '../attempt-body.ts';

export const attemptCame: ContractAnswer<'attemptCame'> = ({ home }, input) => bodyOf(home, input, 'came');
