import type { ContractAnswer } from '../answer.ts';

export const sizes: ContractAnswer<'sizes'> = async (
  { home },
  { history: name, after = -1, limit = 1_000 },
) => {
  const branchRef = await home.find(name);
  const most = Math.max(1, Math.min(limit, MAX_SIZES));
  const { tokenizer, sizes, hasMore } = await home.queries.questions.sizes(branchRef, { after, limit: most });
  const { history, branch, branchId } = branchRef;
  const next = hasMore ? (sizes.at(-1)?.cycle ?? null) : null;
  return { history, branch, branchId, tokenizer, sizes: [...sizes], next };
};

/** Sizes of a page: those before it are summed up for each. */
const MAX_SIZES = 20_000;
