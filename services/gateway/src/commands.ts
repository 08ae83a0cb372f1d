import type { CommandAnswer, CommandRequest, StartRequest } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { Author } from '@stemma/events';
import { historyId, parseCommand } from '@stemma/history';
import { lineOf, type Home, type Line, type Outcome } from '@stemma/home';
import { positionAnswer } from './lines.ts';

type Who = Pick<CommandRequest, 'recorder' | 'actor' | 'notes'>;
type Written = { readonly by: Author; readonly notes?: string };

/** Who writes: a recorder, or an actor with notes. @throws E_ACTOR_REQUIRED, E_COMMAND_INVALID for both at once */
export const writing = ({ recorder, actor, notes }: Who): Written => {
  if (recorder !== undefined && actor !== undefined)
    throw fail('E_COMMAND_INVALID', 'recorder, actor: a frame has one author');
  const said = notes === undefined ? {} : { notes };
  if (recorder !== undefined) return { by: { recorder }, ...said };
  if (actor === undefined) throw fail('E_ACTOR_REQUIRED', 'nobody is named: give an actor, or a recorder');
  return { by: { actor }, ...said };
};

/** Starts an empty history, and answers when it is durable. */
export const startHistory = async (
  home: Home,
  { id, name = null, thread, ...who }: StartRequest,
): Promise<CommandAnswer> =>
  commandAnswer(
    home,
    await home.submit(
      parseCommand({
        id,
        history: historyId(name, id),
        lineage: 0,
        ...writing(who),
        steps: [{ op: 'start', name, ...(thread === undefined ? {} : { thread }) }],
      }),
    ),
  );

/** Does the steps of a request to a lineage, all or none, and answers when they are durable. */
export const doCommand = async (home: Home, found: Line, request: CommandRequest): Promise<CommandAnswer> => {
  const { steps, ...rest } = request;
  const { line, steps: placed } = await home.lineages.place(found, request.id, steps);
  return submitRequest(home, line, rest, placed);
};

export const submitRequest = async (
  home: Home,
  line: Line,
  { id, expected, ...who }: Omit<CommandRequest, 'steps'>,
  steps: readonly unknown[],
): Promise<CommandAnswer> => {
  const command = parseCommand({
    id,
    history: line.history,
    lineage: line.strand,
    ...writing(who),
    ...(expected === undefined ? {} : { expected }),
    steps,
  });
  return commandAnswer(home, await home.submit(command));
};

/** What became of a command, as the API gives it. */
export const commandAnswer = async (
  home: Home,
  { repeated, events, ...where }: Outcome,
): Promise<CommandAnswer> => ({
  position: positionAnswer(await home.position(lineOf(where.history, where.strand), `@s${where.seq}`)),
  repeated,
  events: [...events],
});
