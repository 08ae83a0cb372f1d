import { compareRuns, mapVectors, unitVectors, vectorsFrom } from '@stemma/analysis';
import { experimentReport } from '@stemma/experiments';
import type { BranchRef } from '@stemma/history-store';
import { experimentPage } from '@stemma/reports';
import type { ContractAnswer } from '../answer.ts';
import { armsOf, chanceOf } from '../arms.ts';

export const report: ContractAnswer<'report'> = async ({ home }, asked) => {
  const { permutations, seed } = chanceOf(asked);
  const { id, arms } = await armsOf(home, asked);
  const branches = await home.branches.tree(id);
  const nameOf = ({ branchId }: BranchRef): string =>
    branches.find((each) => each.branchId === branchId)?.name ?? `:${branchId}`;
  const [a, b] = [arms.a[0], arms.b[0]] as [BranchRef, BranchRef];
  const more = (option: string, list: readonly BranchRef[]): readonly string[] =>
    list.length < 2 ? [] : [option, ...list.slice(1).map(({ branchId }) => String(branchId))];
  const command = [
    `stemma report ${id} --branches ${a.branchId},${b.branchId} -o report.html`,
    ...more('--runs', arms.a),
    ...more('--runs-b', arms.b),
    `--permutations ${permutations} --seed ${seed}`,
  ].join(' ');
  const names = { history: asked.history, a: nameOf(a), b: nameOf(b) };
  return experimentPage(
    await experimentReport(
      home,
      { names, arms, command },
      {
        verdict: async (ofA, ofB) => compareRuns(ofA, ofB, { permutations, seed }),
        layout: async (vectors) => mapVectors(unitVectors(vectorsFrom(vectors)), { seed }),
      },
    ),
  );
};
