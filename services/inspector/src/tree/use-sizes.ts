import type { ApiClient, AttemptAnswer, PromptSizeAnswer } from '@stemma/api';
import { defined, RecentMap } from '@stemma/values';
import { useQuery, type Query } from '../asking/queries.ts';

export type LoadedSizes = { readonly branchId: number; readonly sizes: readonly PromptSizeAnswer[] };

/** What was loaded, by what it was asked of: snapshots do not change, so later questions ask only for later ones. */
const knownSizes = new RecentMap<string, LoadedSizes>(8);
/** The server counts tokens the first time: so few calls at once that a busy one answers before its time for a question is over. */
const MOST_AT_ONCE = 4_000;

const loadSizes = async (client: ApiClient, history: string): Promise<LoadedSizes> => {
  const before = knownSizes.get(history);
  let sizes = [...(before?.sizes ?? [])];
  let branchId = before?.branchId;
  for (;;) {
    const after = sizes.at(-1)?.cycle;
    const page = await client.sizes({
      history,
      limit: MOST_AT_ONCE,
      ...defined({ after }),
    });
    if (branchId !== undefined && page.branchId !== branchId) {
      // Since a rollback the name is that of another branch.
      [sizes, branchId] = [[], undefined];
      continue;
    }
    branchId = page.branchId;
    sizes.push(...page.sizes);
    if (page.next !== null) continue;
    const found: LoadedSizes = { branchId, sizes };
    knownSizes.set(history, found);
    return found;
  }
};

/** What every call of a branch was shown, in numbers, oldest first. */
export const useSizes = (history: string): Query<LoadedSizes> =>
  useQuery(`now/h/${history}/sizes`, (client) => loadSizes(client, history), `sizes/${history}`);

const PAGE = 1_000;

const loadAttempts = async (client: ApiClient, history: string): Promise<readonly AttemptAnswer[]> => {
  const attempts: AttemptAnswer[] = [];
  for (let from = 0; ;) {
    const page = await client.attempts({ history, from, limit: PAGE });
    // Calls without messages belong to no prompt.
    for (const attempt of page.attempts) if (!('method' in attempt)) attempts.push(attempt);
    if (page.next === null) return attempts;
    from = page.next;
  }
};

/** Every attempt to call a model on a branch, in the order they were recorded. */
export const useAttempts = (history: string): Query<readonly AttemptAnswer[]> =>
  useQuery(`now/h/${history}/attempts`, (client) => loadAttempts(client, history), `attempts/${history}`);
