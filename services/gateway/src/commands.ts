import type { CommandAnswer, CommandRequest, StartRequest } from '@stemma/api';
import { historyId, parseCommand } from '@stemma/history';
import { lineOf, type Home, type Line, type Outcome } from '@stemma/home';
import { positionAnswer } from './lines.ts';

/** Starts an empty history, and answers when it is durable. */
export const startHistory = async (
  home: Home,
  { id, recorder, name = null, thread }: StartRequest,
): Promise<CommandAnswer> =>
  answer(
    home,
    await home.submit(
      parseCommand({
        id,
        history: historyId(name, id),
        lineage: 0,
        by: { recorder },
        steps: [{ op: 'start', name, ...(thread === undefined ? {} : { thread }) }],
      }),
    ),
  );

/** Does the steps of a request to a lineage, all or none, and answers when they are durable. */
export const doCommand = async (home: Home, line: Line, request: CommandRequest): Promise<CommandAnswer> => {
  const { id, recorder, expected, steps } = request;
  const command = parseCommand({
    id,
    history: line.history,
    lineage: line.strand,
    by: { recorder },
    ...(expected === undefined ? {} : { expected }),
    steps,
  });
  return answer(home, await home.submit(command));
};

const answer = async (home: Home, { repeated, events, ...where }: Outcome): Promise<CommandAnswer> => ({
  position: positionAnswer(await home.position(lineOf(where.history, where.strand), `@s${where.seq}`)),
  repeated,
  events: [...events],
});
