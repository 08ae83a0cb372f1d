import { positionAnswer } from '@stemma/api';
import { parseByteRange } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';

export const blame: ContractAnswer<'blame'> = async ({ home }, { history, at, bytes }) => {
  const range = bytes === undefined ? undefined : parseByteRange(bytes);
  const position = await positionAt(home, { history, at });
  const { origins, parts, ...rest } = await home.queries.questions.blame(position, range);
  return { ...rest, position: positionAnswer(position), origins: [...origins], parts: [...parts] };
};
