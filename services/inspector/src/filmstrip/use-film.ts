import type { ApiClient, BranchNodeAnswer, FilmCellAnswer } from '@stemma/api';
import { defined, RecentMap } from '@stemma/values';
import { useMemo } from 'preact/hooks';
import { useQuery, type Query } from '../asking/queries.ts';
import { filmOf, type Film } from './film-tracks.ts';

type LoadedFilm = {
  readonly branches: readonly BranchNodeAnswer[];
  readonly cells: readonly FilmCellAnswer[];
};

/** What was loaded of the histories shown last: calls stay as they were but for the newest of each branch. */
const known = new RecentMap<string, LoadedFilm>(4);
const MOST_AT_ONCE = 5_000;
/** More branches than that have changed: all is asked for again. */
const FEW_BRANCHES = 20;

const loadAll = async (client: ApiClient, history: string): Promise<FilmCellAnswer[]> => {
  const cells: FilmCellAnswer[] = [];
  for (let from: { branch?: number; after?: number } | null = {}; from !== null;) {
    const page: Awaited<ReturnType<ApiClient['filmstrip']>> = await client.filmstrip({
      history,
      limit: MOST_AT_ONCE,
      ...from,
    });
    cells.push(...page.cells);
    from = page.next;
  }
  return cells;
};

/** The newest calls of a branch, from the one before the newest that is known. */
const loadBranch = async (
  client: ApiClient,
  history: string,
  branch: number,
  before: readonly FilmCellAnswer[],
): Promise<readonly FilmCellAnswer[]> => {
  const kept = before.slice(0, -2);
  const cells = [...kept];
  for (let after = kept.at(-1)?.cycle; ;) {
    const page = await client.filmstrip({ history, branch, limit: 100, ...defined({ after }) });
    const own = page.cells.filter(({ branchId }) => branchId === branch);
    cells.push(...own);
    const last = own.at(-1)?.cycle;
    if (last === undefined || own.length < page.cells.length || page.next === null) return cells;
    after = last;
  }
};

const loadFilm = async (client: ApiClient, history: string): Promise<LoadedFilm> => {
  const before = known.get(history);
  const { branches } = await client.branches({ history });
  const tips = new Map(before?.branches.map(({ branchId, seq }) => [branchId, seq]));
  const changed = branches.filter(({ branchId, seq }) => tips.get(branchId) !== seq);
  const isGrown =
    before !== undefined &&
    changed.length <= FEW_BRANCHES &&
    changed.every(({ branchId }) => before.cells.filter((cell) => cell.branchId === branchId).length > 2);
  const cells = isGrown
    ? await grown(client, history, before.cells, changed)
    : await loadAll(client, history);
  const film = { branches, cells };
  known.set(history, film);
  return film;
};

const grown = async (
  client: ApiClient,
  history: string,
  before: readonly FilmCellAnswer[],
  changed: readonly BranchNodeAnswer[],
): Promise<readonly FilmCellAnswer[]> => {
  let cells = before;
  for (const { branchId } of changed) {
    const own = cells.filter((cell) => cell.branchId === branchId);
    const newest = await loadBranch(client, history, branchId, own);
    cells = [...cells.filter((cell) => cell.branchId !== branchId), ...newest];
  }
  return cells;
};

/** Every call of a history, and its branches. */
export const useFilm = (
  history: string,
): { readonly query: Query<LoadedFilm>; readonly film: Film | null } => {
  const query = useQuery(
    `now/h/${history}/filmstrip`,
    (client) => loadFilm(client, history),
    `filmstrip/${history}`,
  );
  const loaded = query.state === 'done' ? query.value : null;
  const film = useMemo(
    () => (loaded === null ? null : filmOf(history, loaded.branches, loaded.cells)),
    [loaded],
  );
  return { query, film };
};
