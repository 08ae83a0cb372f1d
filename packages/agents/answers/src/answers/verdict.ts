import { compareRuns } from '@stemma/analysis';
import { recordedArms, verdictDocument } from '@stemma/experiments';
import type { ContractAnswer } from '../answer.ts';
import { armsOf, chanceOf } from '../arms.ts';

export const verdict: ContractAnswer<'verdict'> = async ({ home }, asked) => {
  const { permutations, seed } = chanceOf(asked);
  const { arms } = await armsOf(home, asked);
  const recorded = await recordedArms(home, arms);
  const found = compareRuns(recorded.a, recorded.b, { permutations, seed });
  return { of: recorded.kind, ...verdictDocument(found) };
};
