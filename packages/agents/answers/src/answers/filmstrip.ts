import type { ContractAnswer } from '../answer.ts';

const MOST_CELLS = 5_000;

export const filmstrip: ContractAnswer<'filmstrip'> = async (
  { home },
  { history: name, branch, after, limit = 1_000 },
) => {
  const { history } = await home.find(name);
  const { cells, next } = await home.queries.filmstrip.page(history, {
    limit: Math.max(1, Math.min(limit, MOST_CELLS)),
    ...(after === undefined ? {} : { after: { branchId: branch ?? 0, cycle: after } }),
  });
  return {
    history,
    cells: cells.map(({ decided, interventions, ...cell }) => ({
      ...cell,
      decided: decided && { said: decided.said, tools: [...decided.tools] },
      interventions: [...interventions],
    })),
    next: next && { branch: next.branchId, after: next.cycle },
  };
};
