import type { Ctrees } from '@stemma/api';
import { type StagesAnswer, stagesDocument } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';

export const ctrees: ContractAnswer<'ctrees'> = async ({ home }, { session, at, profile }) => {
  const position = await positionAt(home, { history: session, at });
  return ctreesAnswer(await home.queries.stages.compile(position, profile === undefined ? {} : { profile }));
};

/** Lists of the contract may be written to, those of the answer not: nothing else tells them apart. */
const ctreesAnswer = (answer: StagesAnswer): Ctrees => stagesDocument(answer) as unknown as Ctrees;
