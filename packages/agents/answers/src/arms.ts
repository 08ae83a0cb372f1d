import { fail } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';

const MOST_PERMUTATIONS = 9_999;
const MOST_BRANCHES = 100;

const armOf = async (home: Home, history: string, list: string): Promise<readonly BranchRef[]> => {
  const names = list.split(',');
  if (names.length > MOST_BRANCHES) throw fail('E_USAGE', `an arm has at most ${MOST_BRANCHES} branches`);
  const branches: BranchRef[] = [];
  for (const name of names) branches.push(await home.find(`${history}:${name.trim()}`));
  return branches;
};

type Asked = { readonly history: string; readonly a: string; readonly b: string };

/** The history and the branches of both arms of an experiment. */
export const armsOf = async (home: Home, { history, a, b }: Asked) => {
  const { history: id } = await home.find(history);
  return { id, arms: { a: await armOf(home, id, a), b: await armOf(home, id, b) } };
};

/** @throws E_USAGE for more permutations than are made over HTTP */
export const chanceOf = ({
  permutations = 1_999,
  seed = 0,
}: {
  readonly permutations?: number | undefined;
  readonly seed?: number | undefined;
}) => {
  if (permutations > MOST_PERMUTATIONS)
    throw fail('E_USAGE', `a verdict over HTTP makes at most ${MOST_PERMUTATIONS} permutations`);
  return { permutations, seed };
};
