import type { ContractAnswer } from '../answer.ts';

export const breakpoints: ContractAnswer<'breakpoints'> = async ({ home }, { history }) => {
  const branch = await home.find(history);
  const found = await home.steering.breakpoints(branch);
  return {
    steer: await home.steering.isOn(branch),
    breakpoints: found.map(({ name, breakpoint }) => ({ name, ...breakpoint })),
  };
};
