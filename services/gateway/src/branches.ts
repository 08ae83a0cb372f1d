import { type AnswerOf, type Endpoints, type InputOf, type LoadRequest } from '@stemma/api';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { submitRequest } from './commands.ts';
import { previewSteps } from './preview-steps.ts';

type BranchEndpoint = 'preview' | 'load';
type BranchHandlers = {
  readonly [N in BranchEndpoint]: (input: InputOf<Endpoints[N]>) => Promise<AnswerOf<Endpoints[N]>>;
};

/** Tries steps, and loads saved positions. */
export const branchHandlers = (home: Home): BranchHandlers => ({
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
