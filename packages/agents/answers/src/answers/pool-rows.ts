import { cutText } from '@stemma/api';
import { viewPool } from '@stemma/pools';
import type { ContractAnswer } from '../answer.ts';

export const poolRows: ContractAnswer<'poolRows'> = async ({ home }, { history, at }) => {
  const { position, round, messages } = await viewPool(home, await home.find(history), at);
  return {
    history: position.history,
    branch_id: position.branchId,
    position: position.label,
    round,
    rows: messages.map(({ id, round: added, mindId, source, intervention, sampled, isActive, text }) => ({
      id,
      round: added,
      mind_id: mindId,
      source,
      intervention,
      sampled,
      active: isActive,
      characters: text.length,
      excerpt: cutText(text, EXCERPT),
    })),
  };
};

const EXCERPT = 300;
