import {
  commandAnswer,
  commandOfRequest,
  startStep,
  type CommandAnswer,
  type CommandRequest,
  type StartRequest,
} from '@stemma/api';
import type { WideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { historyId, parseCommand } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';

/** Starts an empty history, and answers when it is durable. */
export const startHistory = async (
  home: Home,
  { id, name = null, thread, erasable, ...who }: StartRequest,
): Promise<CommandAnswer> =>
  commandAnswer(
    await home.submit(
      parseCommand({
        ...commandOfRequest({ id, ...who }),
        history: historyId(name, id),
        branchId: 0,
        steps: [startStep({ name, thread, erasable })],
      }),
    ),
  );

/** Does the steps of a request to a branch, all or none, and answers when they are durable. */
export const doCommand = async (
  home: Home,
  name: string,
  { steps, ...request }: CommandRequest,
): Promise<CommandAnswer> => {
  const exact = home.branches.findExact(name, steps);
  if (exact !== undefined)
    try {
      return await submitRequest(home, exact, request, steps);
    } catch (error) {
      // A history may have what looks like an id as its name.
      if (!isStemmaError(error, 'E_HISTORY_NOT_FOUND')) throw error;
    }
  const { branchRef, steps: placed } = await home.branches.resolveSteps(
    await home.find(name),
    request.id,
    steps,
  );
  return submitRequest(home, branchRef, request, placed);
};

export const submitRequest = async (
  home: Home,
  branchRef: BranchRef,
  request: Omit<CommandRequest, 'steps'>,
  steps: readonly unknown[],
): Promise<CommandAnswer> => {
  const command = parseCommand({
    ...commandOfRequest(request),
    history: branchRef.history,
    branchId: branchRef.branchId,
    steps,
  });
  for (const step of command.steps) if (step.op === 'config') await checkSetting(home, branchRef, step.set);
  return commandAnswer(await home.submit(command));
};

/** Refuses a setting that no round of a pool could run with, as the command line does. @throws E_CONFIG_INVALID, E_MIND_INVALID */
const checkSetting = async (
  home: Home,
  branchRef: BranchRef,
  set: { readonly [key: string]: WideJson },
): Promise<void> => {
  const { config } = await home.branches.config(await home.position(branchRef));
  const { checkPoolChange } = await import('@stemma/pools');
  checkPoolChange(config, set);
};
