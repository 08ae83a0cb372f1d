import type { ContractAnswer } from '../answer.ts';

const MOST = 1_000;

export const runs: ContractAnswer<'runs'> = async ({ home }, { history: name, limit = 100 }) => {
  const { history } = await home.find(name);
  const found = await home.calls.runs(history, Math.max(1, Math.min(limit, MOST)));
  return {
    history,
    runs: found.runs.map(({ program, ...run }) => ({
      ...run,
      program: program && {
        ...program,
        command: [...program.command],
        variables: [...program.variables],
      },
    })),
    reruns: found.reruns.map((rerun) => ({
      ...rerun,
      command: [...rerun.command],
      bindings: rerun.bindings.map((each) => ({ ...each })),
      forks: rerun.forks.map((each) => ({ ...each })),
    })),
    total: found.total,
  };
};
