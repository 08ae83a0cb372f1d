import type { CommandAnswer, CommandRequest, StartRequest } from '@stemma/api';
import type { Outcome } from '@stemma/command-handler';
import { fail, isStemmaError } from '@stemma/errors';
import type { Author } from '@stemma/events';
import { historyId, parseCommand } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { positionAnswer } from './positions.ts';

type Who = Pick<CommandRequest, 'recorder' | 'actor' | 'notes'>;
type Written = { readonly by: Author; readonly notes?: string };

/** Who writes: a recorder, or an actor with notes. @throws E_ACTOR_REQUIRED, E_COMMAND_INVALID for both at once */
export const writing = ({ recorder, actor, notes }: Who): Written => {
  if (recorder !== undefined && actor !== undefined)
    throw fail('E_COMMAND_INVALID', 'recorder and actor are both given: a frame has one author');
  const said = notes === undefined ? {} : { notes };
  if (recorder !== undefined) return { by: { recorder }, ...said };
  if (actor === undefined) throw fail('E_ACTOR_REQUIRED', 'no author is given: give an actor or a recorder');
  return { by: { actor }, ...said };
};

/** Starts an empty history, and answers when it is durable. */
export const startHistory = async (
  home: Home,
  { id, name = null, thread, ...who }: StartRequest,
): Promise<CommandAnswer> =>
  commandAnswer(
    await home.submit(
      parseCommand({
        id,
        history: historyId(name, id),
        branchId: 0,
        ...writing(who),
        steps: [{ op: 'start', name, ...(thread === undefined ? {} : { thread }) }],
      }),
    ),
  );

/** Does the steps of a request to a branch, all or none, and answers when they are durable. */
export const doCommand = async (
  home: Home,
  name: string,
  { steps, ...request }: CommandRequest,
): Promise<CommandAnswer> => {
  const exact = await home.branches.findExact(name, steps);
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
  { id, expected, ...who }: Omit<CommandRequest, 'steps'>,
  steps: readonly unknown[],
): Promise<CommandAnswer> => {
  const command = parseCommand({
    id,
    history: branchRef.history,
    branchId: branchRef.branchId,
    ...writing(who),
    ...(expected === undefined ? {} : { expected }),
    steps,
  });
  return commandAnswer(await home.submit(command));
};

/** What became of a command, as the API gives it. */
export const commandAnswer = ({ position, repeated, events }: Outcome): CommandAnswer => ({
  position: positionAnswer(position),
  repeated,
  events: [...events],
});
