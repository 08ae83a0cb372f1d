import { type AnswerOf, type Endpoints, type InputOf, type LoadRequest, positionAnswer } from '@stemma/api';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';
import { submitRequest } from './commands.ts';
import { previewSteps } from './preview-steps.ts';

type BranchEndpoint = 'branches' | 'saved' | 'config' | 'observations' | 'preview' | 'load';
type BranchHandlers = {
  readonly [N in BranchEndpoint]: (input: InputOf<Endpoints[N]>) => Promise<AnswerOf<Endpoints[N]>>;
};

/** What answers about branches, saved positions and configuration. */
export const branchHandlers = (home: Home): BranchHandlers => ({
  branches: async ({ history, of }) => {
    const branchRef = await home.find(history);
    const branches =
      of === undefined
        ? await home.branches.tree(branchRef.history)
        : await home.branches.ancestors(branchRef, of);
    return {
      history: branchRef.history,
      branches: branches.map((each) => ({ ...each, saved: [...each.saved] })),
    };
  },
  saved: async ({ history }) => {
    const of = history === undefined ? undefined : (await home.find(history)).history;
    const saved = await home.branches.saved(of);
    return { saved: saved.map((each) => ({ ...each, position: positionAnswer(each.position) })) };
  },
  config: async ({ history, at }) => {
    const { position, config } = await home.branches.config(
      await home.position(await home.find(history), at),
    );
    return { position: positionAnswer(position), config };
  },
  observations: async ({ history, from = 0, limit = 100, actor }) => {
    const branchRef = await home.find(history);
    const page = {
      from,
      limit: Math.max(1, Math.min(limit, 1_000)),
      ...defined({ actor }),
    };
    return { observations: [...(await home.branches.observations(branchRef.history, page))] };
  },
  preview: previewSteps(home),
  load: async ({ history, body }) => load(home, await home.find(history), body),
});

const load = async (
  home: Home,
  found: BranchRef,
  { from, name = null, description, ...request }: LoadRequest,
): Promise<AnswerOf<Endpoints['load']>> => {
  const descriptionField = description === undefined ? {} : { description };
  const { branchRef, steps } = await home.branches.resolveSteps(found, request.id, [
    { op: 'load', from, name, ...descriptionField },
  ]);
  return submitRequest(home, branchRef, request, steps);
};
