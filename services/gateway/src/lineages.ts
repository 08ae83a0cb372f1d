import type { AnswerOf, Endpoints, InputOf, LoadRequest } from '@stemma/api';
import type { Line } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { submitRequest } from './commands.ts';
import { positionAnswer } from './lines.ts';

type Name = 'lineages' | 'saved' | 'config' | 'observations' | 'load';
type Handlers = {
  readonly [N in Name]: (input: InputOf<Endpoints[N]>) => Promise<AnswerOf<Endpoints[N]>>;
};

/** What answers about lineages, saved positions and configuration. */
export const lineageHandlers = (home: Home): Handlers => ({
  lineages: async ({ history, of }) => {
    const line = await home.find(history);
    const lineages =
      of === undefined
        ? await home.lineages.tree(line.history)
        : await home.lineages.ancestors(await home.position(line, of));
    return { history: line.history, lineages: lineages.map((each) => ({ ...each, saved: [...each.saved] })) };
  },
  saved: async ({ history }) => {
    const of = history === undefined ? undefined : (await home.find(history)).history;
    const saved = await home.lineages.saved(of);
    return { saved: saved.map((each) => ({ ...each, position: positionAnswer(each.position) })) };
  },
  config: async ({ history, at }) => {
    const { position, config } = await home.lineages.config(
      await home.position(await home.find(history), at),
    );
    return { position: positionAnswer(position), config };
  },
  observations: async ({ history, from = 0, limit = 100, actor }) => {
    const line = await home.find(history);
    const page = {
      from,
      limit: Math.max(1, Math.min(limit, 1_000)),
      ...(actor === undefined ? {} : { actor }),
    };
    return { observations: [...(await home.lineages.observations(line.history, page))] };
  },
  load: async ({ history, body }) => load(home, await home.find(history), body),
});

const load = async (
  home: Home,
  found: Line,
  { from, name = null, description, ...request }: LoadRequest,
): Promise<AnswerOf<Endpoints['load']>> => {
  const said = description === undefined ? {} : { description };
  const { line, steps } = await home.lineages.place(found, request.id, [{ op: 'load', from, name, ...said }]);
  return submitRequest(home, line, request, steps);
};
