import type { ContractAnswer } from '../answer.ts';

export const impact: ContractAnswer<'impact'> = async ({ home }, { history, id }) => {
  const { history: found } = await home.find(history);
  const { basis, brought, calls, counts, blocks, lost, branches } = await home.queries.audit.impact(
    found,
    id,
  );
  return {
    basis,
    brought: brought.map((one) => ({ ...one, calls: [...one.calls] })),
    calls: [...calls],
    counts,
    blocks: [...blocks],
    lost: lost.map((one) => ({ ...one, calls: [...one.calls] })),
    branches: [...branches],
  };
};
