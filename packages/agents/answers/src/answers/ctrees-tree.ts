import type { AnswerOf, Endpoints } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';

export const ctreesTree: ContractAnswer<'ctreesTree'> = async (
  { home },
  { session, at, profile, stage = 'FROZEN', include_previews: previews },
) => {
  const position = await positionAt(home, { history: session, at });
  const view = { stage, includePreviews: previews === 'true' || previews === '1' };
  const tree = await home.queries.stages.tree(position, view, profile === undefined ? {} : { profile });
  return tree as unknown as AnswerOf<Endpoints['ctreesTree']>;
};
