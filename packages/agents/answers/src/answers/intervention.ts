import type { ContractAnswer } from '../answer.ts';
import { interventionAnswer } from '../intervention-answer.ts';

export const intervention: ContractAnswer<'intervention'> = async ({ home }, { history, id }) =>
  interventionAnswer(await home.queries.audit.intervention((await home.find(history)).history, id));
