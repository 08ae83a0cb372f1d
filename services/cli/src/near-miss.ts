import { isStemmaError, StemmaError } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { distance } from 'fastest-levenshtein';

/** So many names are looked at; who has more finds them with `stemma histories TEXT`. */
const MOST_NAMES = 10_000;
const MOST_SHOWN = 3;

/** The error that nothing has this name, with the names that differ from it by little. Any other error as it is. */
export const withNearMiss = async (home: Home, name: string, error: unknown): Promise<unknown> => {
  if (!isStemmaError(error)) return error;
  const colon = name.lastIndexOf(':');
  const names = await namesFor(home, error.code, name.slice(0, Math.max(colon, 0))).catch(() => []);
  const near = nearest(error.code === 'E_BRANCH_NOT_FOUND' ? name.slice(colon + 1) : name, names);
  if (near.length === 0) return error;
  return new StemmaError(error.code, `${error.message}; did you mean ${near.join(' or ')}?`, error.detail, {
    cause: error,
  });
};

const namesFor = async (home: Home, code: string, history: string): Promise<readonly string[]> => {
  if (code === 'E_HISTORY_NOT_FOUND') {
    const { histories } = await home.listHistories({ limit: MOST_NAMES });
    return histories.flatMap(({ name }) => (name === null ? [] : [name]));
  }
  if (code !== 'E_BRANCH_NOT_FOUND') return [];
  const { branches } = await home.history((await home.find(history)).history);
  return branches.flatMap(({ name }) => (name === null ? [] : [name]));
};

/** The names that a text may mean, the nearest first: a third of its letters wrong at most, or a part of them. */
export const nearest = (text: string, names: readonly string[]): readonly string[] => {
  const wanted = text.toLowerCase();
  if (wanted === '' || wanted.length > 200) return [];
  const most = Math.max(1, Math.floor(wanted.length / 3));
  return names
    .map((name) => {
      const known = name.toLowerCase();
      const isPart = wanted.length > 2 && known.includes(wanted);
      return { name, far: isPart ? 0.5 : distance(wanted, known) };
    })
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_SHOWN)
    .map(({ name }) => name);
};
