import type { ContractAnswer } from '../answer.ts';

export const verify: ContractAnswer<'verify'> = async ({ home }) => {
  const all = await home.read.histories();
  const inState = (state: string): string[] =>
    all.filter((one) => one.state === state).map(({ history }) => history);
  const [damaged, defective] = [inState('damaged'), inState('defective')];
  return { ok: damaged.length + defective.length === 0, histories: all.length, damaged, defective };
};
