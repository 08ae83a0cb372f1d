import {
  type AnswerOf,
  breakpointOf,
  commandAnswer,
  type Endpoints,
  heldCallAnswer,
  type InputOf,
} from '@stemma/api';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';

type SteeringEndpoint =
  'steer' | 'breakpoints' | 'addBreakpoint' | 'removeBreakpoint' | 'held' | 'heldOf' | 'release';
type SteeringHandlers = {
  readonly [N in SteeringEndpoint]: (input: InputOf<Endpoints[N]>) => Promise<AnswerOf<Endpoints[N]>>;
};

type Who = { readonly actor: string; readonly notes?: string | undefined };

const actOf = ({ actor, notes }: Who): { actor: string; notes?: string } => ({
  actor,
  ...defined({ notes }),
});

/** What steers calls, and answers which ones wait. */
export const steeringHandlers = (home: Home): SteeringHandlers => ({
  steer: async ({ history, body }) =>
    commandAnswer(await home.steering.set(await home.find(history), body.on, actOf(body))),
  breakpoints: async ({ history }) => {
    const branch = await home.find(history);
    const found = await home.steering.breakpoints(branch);
    return {
      steer: await home.steering.isOn(branch),
      breakpoints: found.map(({ name, breakpoint }) => ({ name, ...breakpoint })),
    };
  },
  addBreakpoint: async ({ history, body }) => ({
    name: await home.steering.addBreakpoint(
      await home.find(history),
      breakpointOf(body),
      actOf(body),
      body.name,
    ),
  }),
  removeBreakpoint: async ({ history, name, body }) =>
    commandAnswer(await home.steering.removeBreakpoint(await home.find(history), name, actOf(body))),
  held: async ({ history }) => {
    const of = history === undefined ? undefined : (await home.find(history)).history;
    return { calls: (await home.steering.held(of)).map(heldCallAnswer) };
  },
  heldOf: async ({ history }) => {
    const calls = await home.steering.held((await home.find(history)).history, { all: true });
    return { calls: calls.map(heldCallAnswer) };
  },
  release: async ({ history, attempt, body }) => {
    const how = {
      abort: body.abort === true,
      ...defined({ message: body.message }),
    };
    const released = await home.steering.release(
      (await home.find(history)).history,
      attempt,
      how,
      actOf(body),
    );
    return heldCallAnswer(released);
  },
});
